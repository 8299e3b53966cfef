#include "astra-core/sweep/sweep_file.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "astra-core/sweep/sweep_axes.h"
#include "astra-core/sweep/sweep_sections.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kMark = "simai_sweep";
constexpr size_t kMaxNameBytes = 64;
constexpr std::string_view kSeed = "seed";
constexpr std::string_view kMisfits = "does-not-fit";

bool IsFolderName(std::string_view name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= kMaxNameBytes && name[0] != '.' &&
         name[0] != '-' &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

// Returns the name of a file without folder and suffix: "b" for "a/b.yaml".
std::string_view StemOf(std::string_view file) {
  file.remove_prefix(std::min(file.rfind('/') + 1, file.size()));
  return file.substr(0, file.rfind('.'));
}

// Reads the parts of a sweep file, each independently of the others.
class SweepReader {
 public:
  // Place in the file of each variable of an axis and each definition, by name.
  using Places = std::map<std::string, std::string, std::less<>>;

  SweepReader(std::string_view file, std::string_view contents)
      : file_(file), contents_(contents), document_(file, contents) {}

  absl::Status Read(absl::Span<const SweptProgram> programs) {
    ASTRA_RETURN_IF_ERROR(WithAdvice(document_.status()));
    YamlFields root = document_.Root("a sweep");
    CheckKeys(root, programs);
    ASTRA_RETURN_IF_ERROR(document_.status());
    ReadName(root);
    ReadAxes(root);
    ReadDefinitions(root);
    ReadRules(root, "constraints", /*is_exclusion=*/false);
    ReadRules(root, "exclude", /*is_exclusion=*/true);
    ReadMetrics(root);
    ReadRequirements(root);
    ReadAllowed(root);
    ReadObjectives(root);
    ASTRA_RETURN_IF_ERROR(document_.status());
    sweep_.sections = ReadSections(file_, document_, root, programs);
    return document_.status();
  }

  Sweep& sweep() { return sweep_; }

  const Places& places() const { return places_; }

 private:
  // Explains a common mistake: in "{gpu: ${gpus}}" YAML reads a nested mapping.
  absl::Status WithAdvice(const absl::Status& status) const {
    if (status.ok() || contents_.find("${") == std::string_view::npos) {
      return status;
    }
    return absl::InvalidArgumentError(
        fmt::format("{}; between {{ }} and [ ], \"${{...}}\" stands in quotes",
                    std::string(status.message())));
  }

  void CheckKeys(YamlFields& root, absl::Span<const SweptProgram> programs) {
    const std::vector<std::string> keys = root.keys();
    root.Integer(kMark, 1, 1);
    if (!keys.empty() && keys[0] != kMark) {
      root.Error(kMark, fmt::format("{} is not the first key", Quoted(kMark)));
    }
    for (const std::string_view key :
         {"name", "axes", "repeats", "let", "constraints", "exclude"}) {
      root.Value(key);
    }
    for (const SweptProgram& program : programs) root.Value(program.name);
    root.Value("metrics");
    root.Value("require");
    root.Value("allow");
    root.Value("objectives");
    root.Close();
  }

  void ReadName(YamlFields& root) {
    const std::string_view stem = StemOf(file_);
    sweep_.name = root.TextOr("name", stem);
    if (IsFolderName(sweep_.name)) return;
    root.Error("name",
               fmt::format("{} is {}: expected a \"name\" of at most {} "
                           "letters, digits, '_', '-' and '.'",
                           root.has("name") ? "name" : "the name of the file",
                           Quoted(sweep_.name), kMaxNameBytes));
  }

  // Returns the fields of the mapping `key`.
  absl::Span<const YamlField> ReadMapping(YamlFields& root,
                                          std::string_view key) {
    const YamlValue* value = root.Value(key);
    if (value == nullptr) return {};
    document_.Fields(*value, key);  // Refuses anything but a mapping.
    return CheckCount(*value, key) ? value->children
                                   : absl::Span<const YamlField>();
  }

  // Returns the entries of a list, or a single entry that stands without a
  // list.
  std::vector<const YamlValue*> ReadEntries(YamlFields& root,
                                            std::string_view key) {
    const YamlValue* value = root.Value(key);
    if (value == nullptr || !CheckCount(*value, key)) return {};
    if (value->kind != YamlValue::Kind::kList) return {value};
    std::vector<const YamlValue*> entries;
    entries.reserve(value->children.size());
    for (const auto& [_, item] : value->children) entries.push_back(&item);
    return entries;
  }

  bool CheckCount(const YamlValue& value, std::string_view what) {
    const size_t count = value.children.size();
    if (count <= kMaxListEntries) return true;
    document_.Error(value, fmt::format("{} has {} entries: expected at most {}",
                                       what, count, kMaxListEntries));
    return false;
  }

  void CheckName(std::string_view what, std::string_view name,
                 const YamlValue& value) {
    if (IsVariableName(name)) return;
    document_.Error(
        value,
        fmt::format("{} {}: expected a name of letters, digits and '_', not "
                    "beginning with a digit, and no word of expressions",
                    what, Quoted(name)));
  }

  void AddVariable(const std::string& name, const YamlValue& value) {
    CheckName("variable", name, value);
    if (!places_.try_emplace(name, PlaceOf(file_, value)).second) {
      document_.Error(value,
                      fmt::format("variable {} is there twice", Quoted(name)));
    }
    if (places_.size() > kMaxVariables) {
      document_.Error(value,
                      fmt::format("more than {} variables", kMaxVariables));
    }
  }

  void AddAxis(SweepAxis axis, const YamlValue& value) {
    for (const std::string& name : axis.variables) AddVariable(name, value);
    sweep_.axes.push_back(std::move(axis));
  }

  void ReadAxes(YamlFields& root) {
    for (const auto& [name, value] : ReadMapping(root, "axes")) {
      if (!document_.status().ok()) return;
      AddAxis(ReadAxis(document_, name, value), value);
    }
    if (const YamlValue* repeats = root.Value("repeats")) {
      AddAxis(ReadRepeats(document_, *repeats), *repeats);
      sweep_.has_repeats = true;
    }
  }

  void ReadDefinitions(YamlFields& root) {
    for (const auto& [name, value] : ReadMapping(root, "let")) {
      if (!document_.status().ok()) return;
      AddVariable(name, value);
      const std::string* text =
          ReadScalar(document_, value, Quoted(name),
                     "expected one value; a list belongs under \"axes\"");
      if (text == nullptr) return;
      absl::StatusOr<TextPattern> pattern = TextPattern::Parse(*text);
      if (!pattern.ok()) {
        document_.Error(value, std::string(pattern.status().message()));
        return;
      }
      sweep_.definitions.push_back({.name = name,
                                    .value = *std::move(pattern),
                                    .where = PlaceOf(file_, value)});
    }
  }

  std::optional<Expression> ReadExpression(std::string_view what,
                                           const YamlValue& value) {
    const std::string* text =
        ReadScalar(document_, value, what,
                   "expected an expression, in quotes where it begins with "
                   "one or holds a \": \"");
    if (text == nullptr) return std::nullopt;
    absl::StatusOr<Expression> expression = ParseBareExpression(*text);
    if (expression.ok()) return *std::move(expression);
    document_.Error(value, std::string(expression.status().message()));
    return std::nullopt;
  }

  void ReadRules(YamlFields& root, std::string_view key, bool is_exclusion) {
    for (const YamlValue* value : ReadEntries(root, key)) {
      std::optional<Expression> expression =
          ReadExpression(fmt::format("a rule of {}", Quoted(key)), *value);
      if (!expression) return;
      sweep_.rules.push_back({.expression = *std::move(expression),
                              .is_exclusion = is_exclusion,
                              .where = PlaceOf(file_, *value)});
    }
  }

  void ReadMetrics(YamlFields& root) {
    for (const auto& [name, value] : ReadMapping(root, "metrics")) {
      CheckName("metric", name, value);
      if (places_.count(name) > 0) {
        document_.Error(value, fmt::format("metric {} has the name of a "
                                           "variable",
                                           Quoted(name)));
      }
      std::optional<Expression> expression =
          ReadExpression(Quoted(name), value);
      if (!expression || !document_.status().ok()) return;
      sweep_.metrics.push_back({.name = name,
                                .expression = *std::move(expression),
                                .where = PlaceOf(file_, value)});
    }
  }

  void ReadRequirements(YamlFields& root) {
    for (const YamlValue* value : ReadEntries(root, "require")) {
      std::optional<Expression> expression =
          ReadExpression("a rule of \"require\"", *value);
      if (!expression) return;
      sweep_.requirements.push_back({.expression = *std::move(expression),
                                     .where = PlaceOf(file_, *value)});
    }
  }

  void ReadAllowed(YamlFields& root) {
    const std::string allowed = root.TextOr("allow", "");
    sweep_.allows_misfits = allowed == kMisfits;
    if (!root.has("allow") || sweep_.allows_misfits) return;
    root.Error("allow", fmt::format("allow is {}: expected {}", Quoted(allowed),
                                    kMisfits));
  }

  void ReadObjectives(YamlFields& root) {
    for (const YamlValue* value : ReadEntries(root, "objectives")) {
      ReadObjective(*value);
      if (!document_.status().ok()) return;
    }
    const bool has_none = root.has("objectives") && sweep_.objectives.empty();
    if (has_none) root.Error("objectives", "expected an objective");
  }

  void ReadObjective(const YamlValue& value) {
    constexpr std::string_view kExpected =
        "expected {minimize: METRIC} or {maximize: METRIC}";
    YamlFields fields = document_.Fields(value, "an objective");
    const std::string smallest = fields.TextOr("minimize", "");
    const std::string largest = fields.TextOr("maximize", "");
    fields.Close();
    const bool maximize = fields.has("maximize");
    if (fields.has("minimize") == maximize) {
      document_.Error(value, fmt::format("an objective: {}", kExpected));
    }
    const std::string& metric = maximize ? largest : smallest;
    CheckName("metric", metric, value);
    if (places_.count(metric) > 0) {
      document_.Error(
          value, fmt::format("{} is a variable, not a metric: give it another "
                             "name under \"metrics\"",
                             Quoted(metric)));
    }
    for (const SweepObjective& other : sweep_.objectives) {
      if (other.metric != metric) continue;
      document_.Error(
          value, fmt::format("two objectives for metric {}", Quoted(metric)));
    }
    sweep_.objectives.push_back({.metric = metric, .maximize = maximize});
  }

  std::string_view file_;
  std::string_view contents_;
  YamlDocument document_;
  Sweep sweep_;
  Places places_;
};

// Checks the variables that the parts of a sweep name, and adds the seed
// option.
class NameChecker {
 public:
  NameChecker(Sweep& sweep, const SweepReader::Places& places)
      : sweep_(sweep), places_(places) {}

  absl::Status Check() {
    ASTRA_RETURN_IF_ERROR(CheckDefinitions());
    for (const SweepRule& rule : sweep_.rules) {
      ASTRA_RETURN_IF_ERROR(
          Use(rule.where, rule.expression.names(),
              "; what a run gives is known only after it: see \"require\""));
    }
    for (const SweepSection& section : sweep_.sections) {
      for (const SweepOption& option : section.options) {
        ASTRA_RETURN_IF_ERROR(Use(option.where, option.value.names()));
      }
    }
    ASTRA_RETURN_IF_ERROR(CheckMetrics());
    // A name that is not a variable may be a metric of the run.
    for (const SweepRequirement& requirement : sweep_.requirements) {
      const std::vector<std::string>& names = requirement.expression.names();
      used_.insert(names.begin(), names.end());
    }
    if (sweep_.has_repeats) ASTRA_RETURN_IF_ERROR(GiveSeed());
    return CheckAllUsed();
  }

 private:
  static absl::Status Wrong(std::string_view where, std::string_view message) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", where, message));
  }

  // Marks the variables `names` as used. `advice` ends the message about an
  // unknown one.
  absl::Status Use(std::string_view where,
                   const std::vector<std::string>& names,
                   std::string_view advice = "") {
    for (const std::string& name : names) {
      if (places_.count(name) == 0) {
        std::vector<std::string_view> known;
        known.reserve(places_.size());
        for (const auto& [variable, _] : places_) known.push_back(variable);
        return Wrong(
            where,
            fmt::format("{}{}", UnknownName("variable", name, known), advice));
      }
      used_.insert(name);
    }
    return absl::OkStatus();
  }

  // Checks that definitions use only earlier ones, as they are computed in
  // order.
  absl::Status CheckDefinitions() {
    std::set<std::string_view> later;
    for (const SweepDefinition& definition : sweep_.definitions) {
      later.insert(definition.name);
    }
    for (const auto& [name, value, where] : sweep_.definitions) {
      for (const std::string& other : value.names()) {
        if (later.count(other) == 0) continue;
        return Wrong(where, fmt::format("{} uses {}, which is not defined "
                                        "before it",
                                        Quoted(name), Quoted(other)));
      }
      ASTRA_RETURN_IF_ERROR(Use(where, value.names()));
      later.erase(name);
    }
    return absl::OkStatus();
  }

  // Checks that metrics use only earlier ones. A name that is not a variable
  // may be a metric of the run.
  absl::Status CheckMetrics() {
    std::set<std::string_view> later;
    for (const SweepMetric& metric : sweep_.metrics) later.insert(metric.name);
    for (const auto& [name, expression, where] : sweep_.metrics) {
      for (const std::string& other : expression.names()) {
        if (later.count(other) > 0) {
          return Wrong(where, fmt::format("{} uses {}, which is not defined "
                                          "before it",
                                          Quoted(name), Quoted(other)));
        }
        used_.insert(other);
      }
      later.erase(name);
    }
    return absl::OkStatus();
  }

  // Returns whether an option depends on the seed, directly or through
  // definitions.
  bool SeedReachesAnOption() const {
    std::set<std::string_view> reached;
    for (const SweepSection& section : sweep_.sections) {
      for (const SweepOption& option : section.options) {
        reached.insert(option.value.names().begin(),
                       option.value.names().end());
      }
    }
    std::for_each(sweep_.definitions.rbegin(), sweep_.definitions.rend(),
                  [&](const SweepDefinition& definition) {
                    if (reached.count(definition.name) == 0) return;
                    reached.insert(definition.value.names().begin(),
                                   definition.value.names().end());
                  });
    return reached.count(kSeed) > 0;
  }

  // Passes the seed to the program that runs, unless the file already uses it
  // in an option: repeats differ only by their seed.
  absl::Status GiveSeed() {
    if (SeedReachesAnOption()) return absl::OkStatus();
    used_.insert(std::string(kSeed));
    const std::string& where = places_.find(kSeed)->second;
    SweepSection& run = sweep_.sections.back();
    if (FindOption(*run.program, kSeed) == nullptr) {
      return Wrong(where, fmt::format("the repeats are all the same: {} has no "
                                      "--seed; write \"${{seed}}\" in an "
                                      "option",
                                      run.program->name));
    }
    for (const SweepOption& option : run.options) {
      if (option.name != kSeed) continue;
      return Wrong(option.where,
                   "the repeats are all the same: expected \"${seed}\" in "
                   "--seed, or in another option");
    }
    ASTRA_ASSIGN_OR_RETURN(TextPattern value, TextPattern::Parse("${seed}"));
    run.options.push_back({.name = std::string(kSeed),
                           .is_flag = false,
                           .is_file = false,
                           .is_list = false,
                           .must_exist = false,
                           .value = std::move(value),
                           .where = where});
    return absl::OkStatus();
  }

  absl::Status CheckAllUsed() const {
    // The name of such an axis serves only the readers of the results.
    std::set<std::string_view> labels;
    for (const SweepAxis& axis : sweep_.axes) {
      if (axis.variables.size() > 1) labels.insert(axis.name);
    }
    std::vector<std::string_view> variables;
    for (const SweepAxis& axis : sweep_.axes) {
      variables.insert(variables.end(), axis.variables.begin(),
                       axis.variables.end());
    }
    for (const SweepDefinition& definition : sweep_.definitions) {
      variables.push_back(definition.name);
    }
    for (const std::string_view name : variables) {
      if (used_.count(name) > 0 || labels.count(name) > 0) continue;
      return Wrong(places_.find(name)->second,
                   fmt::format("{} has no effect: no option, rule, definition "
                               "or metric uses it; write \"${{{}}}\" where it "
                               "goes",
                               Quoted(name), name));
    }
    return absl::OkStatus();
  }

  Sweep& sweep_;
  const SweepReader::Places& places_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace

absl::StatusOr<Sweep> ReadSweep(std::string_view file,
                                std::string_view contents,
                                std::string_view folder,
                                absl::Span<const SweptProgram> programs) {
  SweepReader reader(file, contents);
  ASTRA_RETURN_IF_ERROR(reader.Read(programs));
  Sweep sweep = std::move(reader.sweep());
  sweep.text = contents;
  sweep.folder = folder;
  ASTRA_RETURN_IF_ERROR(NameChecker(sweep, reader.places()).Check());
  if (sweep.objectives.empty()) {
    sweep.objectives.push_back(
        {.metric = std::string(sweep.run_program().objective),
         .maximize = false});
  }
  return sweep;
}

}  // namespace astra
