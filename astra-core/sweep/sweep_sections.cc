#include "astra-core/sweep/sweep_sections.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/sweep/sweep_axes.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

// Checks the value of an option that contains no variable.
absl::Status CheckConstant(const SweepOption& option) {
  if (!option.value.names().empty()) return absl::OkStatus();
  ASTRA_ASSIGN_OR_RETURN(const std::string text, option.value.Fill({}));
  if (!option.is_flag) return absl::OkStatus();
  return FlagOf(option, text).status();
}

// Reads an option. Returns none and records an error in the document where
// `field` is not an option with a value.
std::optional<SweepOption> ReadOption(std::string_view file,
                                      YamlDocument& document,
                                      const SweptProgram& program,
                                      const YamlField& field) {
  const auto& [key, value] = field;
  const OptionSpec* spec = FindOption(program, key);
  const std::string refusal = WhyRefused(program, key);
  if (!refusal.empty() || spec == nullptr) {
    document.Error(value,
                   refusal.empty() ? UnknownOptionOf(program, key) : refusal);
    return std::nullopt;
  }
  const std::string* text = ReadScalar(
      document, value, fmt::format("--{}", spec->name),
      spec->value.empty() ? "expected true or false"
                          : "an option holds one value; put the list under "
                            "\"axes\" and write \"${NAME}\"");
  if (text == nullptr) return std::nullopt;
  absl::StatusOr<TextPattern> pattern = TextPattern::Parse(*text);
  if (!pattern.ok()) {
    document.Error(value, fmt::format("--{}: {}", spec->name,
                                      std::string(pattern.status().message())));
    return std::nullopt;
  }
  const auto holds = [&](std::string_view part) {
    return spec->value.find(part) != std::string_view::npos;
  };
  SweepOption option = {.name = std::string(spec->name),
                        .is_flag = spec->value.empty(),
                        .is_file = holds("FILE"),
                        .is_list = holds("FILE") && holds("..."),
                        .must_exist = holds("FILE") && !holds("|"),
                        .value = *std::move(pattern),
                        .where = PlaceOf(file, value)};
  const absl::Status status = CheckConstant(option);
  if (!status.ok()) {
    document.Error(value, std::string(status.message()));
    return std::nullopt;
  }
  return option;
}

SweepSection ReadSection(std::string_view file, YamlDocument& document,
                         const SweptProgram& program, const YamlValue& value) {
  SweepSection section = {.program = &program, .options = {}};
  // A section "simai_analytical:" with nothing behind it has no options.
  if (value.kind == YamlValue::Kind::kNull) return section;
  document.Fields(value, program.name);  // Refuses anything but a mapping.
  // Spelling of each option, by its long name.
  std::map<std::string, std::string> spellings;
  for (const YamlField& field : value.children) {
    if (!document.status().ok()) return section;
    std::optional<SweepOption> option =
        ReadOption(file, document, program, field);
    if (!option) return section;
    const auto [other, is_new] = spellings.try_emplace(option->name, field.key);
    if (!is_new) {
      document.Error(
          field.value,
          fmt::format("{} and {} are the same option, --{}",
                      Quoted(other->second), Quoted(field.key), option->name));
    }
    section.options.push_back(*std::move(option));
  }
  return section;
}

// Returns why nothing reads the output of `program`; empty if the section `run`
// reads it.
std::string WhyUnread(const SweptProgram& program, const SweepSection& run) {
  const bool is_topology = program.role == ProgramRole::kTopology;
  const std::string_view reader =
      is_topology ? run.program->topology_option : run.program->workload_option;
  const std::string begin =
      fmt::format("nothing reads what {} writes", program.name);
  if (reader.empty()) {
    return fmt::format("{}: {} takes no {}", begin, run.program->name,
                       is_topology ? "topology" : "workload");
  }
  const bool is_set =
      std::any_of(run.options.begin(), run.options.end(),
                  [&](const auto& option) { return option.name == reader; });
  if (!is_set) return "";
  return fmt::format("{}: {} is told --{} of its own", begin, run.program->name,
                     reader);
}

std::string NoRunMessage(absl::Span<const SweptProgram> programs) {
  std::vector<std::string_view> names;
  names.reserve(programs.size());
  for (const SweptProgram& program : programs) {
    if (program.role == ProgramRole::kRun) names.push_back(program.name);
  }
  return fmt::format("a sweep has a section for the program that runs: {}",
                     fmt::join(names, ", "));
}

}  // namespace

std::string PlaceOf(std::string_view file, const YamlValue& value) {
  return fmt::format("{}:{}:{}", file, value.line, value.column);
}

std::vector<SweepSection> ReadSections(
    std::string_view file, YamlDocument& document, YamlFields& root,
    absl::Span<const SweptProgram> programs) {
  // Sections in the order in which the programs run.
  std::map<ProgramRole, SweepSection> sections;
  for (const SweptProgram& program : programs) {
    const YamlValue* value = root.Value(program.name);
    if (value == nullptr) continue;
    const auto [other, is_new] = sections.try_emplace(
        program.role, ReadSection(file, document, program, *value));
    if (!is_new) {
      root.Error(program.name,
                 fmt::format("{} beside {}: a sweep runs one of them",
                             program.name, other->second.program->name));
    }
  }
  const auto run = sections.find(ProgramRole::kRun);
  if (run == sections.end()) {
    root.Error("", NoRunMessage(programs));
    return {};
  }
  std::vector<SweepSection> in_order;
  in_order.reserve(sections.size());
  for (auto& [role, section] : sections) {
    if (role != ProgramRole::kRun) {
      const std::string message = WhyUnread(*section.program, run->second);
      if (!message.empty()) root.Error(section.program->name, message);
    }
    in_order.push_back(std::move(section));
  }
  return in_order;
}

absl::StatusOr<bool> FlagOf(const SweepOption& option, std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  return absl::InvalidArgumentError(fmt::format(
      "--{} is {}: expected true or false", option.name, Quoted(text)));
}

}  // namespace astra
