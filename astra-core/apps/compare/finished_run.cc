#include "astra-core/apps/compare/finished_run.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>

#include "absl/status/status.h"
#include "astra-core/apps/time_parts.h"
#include "astra-core/base/csv_reader.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

constexpr double kMsPerPs = 1e-9;
constexpr double kMsPerUs = 1e-3;
constexpr double kMostUs = 1e15;  // Of a time; beyond that no run ends.
constexpr int64_t kMostCount = int64_t{1} << 53;

constexpr std::string_view kPrograms[] = {"simai_analytical", "simai_physical",
                                          "simai_simulator"};
constexpr FigureSpec Exposed(std::string_view name,
                             ParallelDimension dimension) {
  return {name,     "result", "exposed_ps",           Name(dimension),
          kMsPerPs, 6,        TimeCategory::kNetwork, dimension};
}

constexpr FigureSpec Optional(FigureSpec spec) {
  spec.is_optional = true;
  return spec;
}

constexpr FigureSpec kFigures[] = {
    {"iteration ms", "result", "", "iteration_ps", kMsPerPs, 6},
    Optional(
        {"without the events ms", "events", "", "healthy_ps", kMsPerPs, 6}),
    {"compute ms", "result", "", "compute_ps", kMsPerPs, 6,
     TimeCategory::kCompute},
    {"slowed by collectives ms", "result", "", "slowed_ps", kMsPerPs, 6,
     TimeCategory::kSlowed},
    Exposed("exposed TP ms", ParallelDimension::kTensor),
    Exposed("exposed CP ms", ParallelDimension::kContext),
    Exposed("exposed EP ms", ParallelDimension::kExpert),
    Exposed("exposed ETP ms", ParallelDimension::kExpertTensor),
    Exposed("exposed DP ms", ParallelDimension::kData),
    Exposed("exposed DP_EP ms", ParallelDimension::kDataExpert),
    Exposed("exposed PP ms", ParallelDimension::kPipeline),
    {"pipeline bubble ms", "result", "", "bubble_ps", kMsPerPs, 6,
     TimeCategory::kBubble},
    Optional({"CPU and copies ms", "result", "", "held_ps", kMsPerPs, 6,
              TimeCategory::kHost}),
    {"with an ideal network ms", "iteration", "", "ideal_network_ps", kMsPerPs,
     6},
    {"communication alone ms", "iteration", "", "ideal_compute_ps", kMsPerPs,
     6},
    Optional({"tokens/s", "iteration", "", "tokens_per_s", 1, 0}),
    Optional(
        {"tokens/s of a GPU", "iteration", "", "tokens_per_s_per_gpu", 1, 1}),
    Optional({"model TFLOP/s of a GPU", "iteration", "", "model_tflops_per_gpu",
              1, 1}),
    Optional({"MFU %", "iteration", "", "mfu", 100, 2}),
    {"allocated GiB", "memory", "", "allocated_memory_gib", 1, 2},
    {"reserved GiB", "memory", "", "reserved_memory_gib", 1, 2}};

// These keys of run.json hold results, and no inputs.
constexpr std::string_view kOutcomes[] = {"name",     "finished", "reason",
                                          "warnings", "result",   "simulated",
                                          "memory",   "iteration"};
constexpr std::string_view kOutcomeOfEvents = "events.healthy_ps";

constexpr TimeCategory kCategories[] = {
    TimeCategory::kCompute, TimeCategory::kSlowed,   TimeCategory::kNetwork,
    TimeCategory::kLate,    TimeCategory::kTransfer, TimeCategory::kBubble,
    TimeCategory::kHost,    TimeCategory::kIdle};

// Checks that `contents` are JSON. YAML, of which JSON is a part, is read
// afterwards, but its errors would not say what is wrong with JSON.
absl::Status CheckJson(std::string_view file, std::string_view contents) {
  using Json = nlohmann::json;
  try {
    const Json nothing = Json::parse(
        contents, [](int, Json::parse_event_t, const Json&) { return false; });
  } catch (const Json::parse_error& error) {
    const size_t at = std::max<size_t>(error.byte, 1) - 1;
    const std::string_view before = contents.substr(0, at);
    // In the first line rfind() finds nothing, and npos + 1 is 0.
    const size_t line_begin = before.rfind('\n') + 1;
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    return absl::InvalidArgumentError(fmt::format(
        "{}:{}:{}: not JSON: {}", file, line, at - line_begin + 1,
        at < contents.size()
            ? fmt::format("unexpected {}", Quoted(contents.substr(at, 1)))
            : "the file ends early"));
  } catch (const Json::out_of_range& error) {
    // The only such error of the parser. Its text ends with the number.
    const std::string_view text = error.what();
    return absl::InvalidArgumentError(
        fmt::format("{}: the number {} does not fit 64 bits", file,
                    text.substr(text.find('\''))));
  }
  return absl::OkStatus();
}

// Adds `value` and what it holds to `inputs` under names that begin with `key`.
void Flatten(const std::string& key, const YamlValue& value,
             std::vector<std::pair<std::string, std::string>>& inputs) {
  if (key == kOutcomeOfEvents) return;
  if (value.children.empty()) {
    inputs.emplace_back(key, value.text);
    return;
  }
  size_t index = 0;
  for (const YamlField& child : value.children) {
    Flatten(value.kind == YamlValue::Kind::kMap
                ? fmt::format("{}.{}", key, child.key)
                : fmt::format("{}[{}]", key, index++),
            child.value, inputs);
  }
}

// Reads a figure, or none where its section or an optional key is absent.
std::optional<double> ReadFigure(const FigureSpec& spec, YamlFields& root) {
  if (!root.has(spec.section)) return std::nullopt;
  YamlFields section = root.Map(spec.section, spec.section);
  if (spec.is_optional && !section.has(spec.key)) return std::nullopt;
  if (spec.group.empty()) return spec.scale * section.Number(spec.key);
  YamlFields group = section.Map(spec.group, spec.group);
  return spec.scale * group.Number(spec.key);
}

// Returns the names of kCategories or kParallelDimensions.
template <class Values>
std::vector<std::string_view> NamesOf(const Values& values) {
  std::vector<std::string_view> names;
  for (const auto value : values) names.push_back(Name(value));
  return names;
}

// Returns the value in `values` whose name stands in a cell; the first after an
// error.
template <class Value, size_t kSize>
Value ReadName(std::string_view what, const Value (&values)[kSize],
               size_t column, CsvReader& csv) {
  const CsvCell& cell = csv.cell(column);
  for (const Value value : values) {
    if (Name(value) == cell.text) return value;
  }
  csv.Fail(cell, UnknownName(what, cell.text, NamesOf(values)));
  return values[0];
}

// A rank of breakdown.csv. It works for the first two of its parts.
struct RankTime {
  std::vector<double> parts_ms = std::vector<double>(std::size(kTimeParts));

  double WorkMs() const {
    return parts_ms[TimePartOf(TimeCategory::kCompute)] +
           parts_ms[TimePartOf(TimeCategory::kSlowed)];
  }
};

// Returns of each stage the rank that works longest, the lowest of several.
std::vector<StageBreakdown> LongestOf(
    const std::map<std::pair<uint32_t, uint32_t>, RankTime>& ranks) {
  std::vector<StageBreakdown> stages;
  double longest_ms = 0;
  for (const auto& [key, time] : ranks) {
    const auto [stage, rank] = key;
    const bool is_new = stages.empty() || stages.back().stage != stage;
    if (!is_new && time.WorkMs() <= longest_ms) continue;
    if (is_new) stages.emplace_back();
    stages.back() = {stage, rank, time.parts_ms};
    longest_ms = time.WorkMs();
  }
  return stages;
}

}  // namespace

absl::Span<const FigureSpec> RunFigures() { return kFigures; }

absl::StatusOr<RunSummary> ParseRunSummary(std::string_view file,
                                           std::string_view contents) {
  ASTRA_RETURN_IF_ERROR(CheckJson(file, contents));
  YamlDocument document(file, contents);
  YamlFields root = document.Root("a run");
  RunSummary summary;
  root.Choice("program", kPrograms);
  summary.name = root.Text("name");
  if (!root.Bool("finished")) {
    root.Error("finished", "the run has not finished: it has no result");
  }
  for (const FigureSpec& spec : RunFigures()) {
    summary.figures.push_back(ReadFigure(spec, root));
  }
  ASTRA_RETURN_IF_ERROR(document.status());
  if (!summary.figures.front()) {
    root.Error("result", "a run has no \"result\"");
    return document.status();
  }
  summary.has_breakdown = root.has("iteration");
  for (const std::string& key : root.keys()) {
    bool is_outcome = false;
    for (const std::string_view name : kOutcomes) is_outcome |= key == name;
    if (!is_outcome) Flatten(key, *root.Value(key), summary.inputs);
  }
  return summary;
}

absl::StatusOr<std::vector<StageBreakdown>> ParseBreakdown(
    std::string_view file, std::string_view contents) {
  constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
  CsvReader csv(file, contents);
  const size_t stage = csv.Column("stage");
  const size_t rank = csv.Column("rank");
  const size_t category = csv.Column("category");
  const size_t group = csv.Column("group");
  const size_t time = csv.Column("time_us");
  std::map<std::pair<uint32_t, uint32_t>, RankTime> ranks;
  while (csv.status().ok() && csv.NextRow()) {
    const TimeCategory what = ReadName("category", kCategories, category, csv);
    std::optional<ParallelDimension> dimension;
    if (!csv.cell(group).text.empty()) {
      dimension = ReadName("group", kParallelDimensions, group, csv);
    } else if (what == TimeCategory::kNetwork) {
      csv.Fail(csv.cell(group), "expected the group of a collective");
    }
    RankTime& parts =
        ranks[{static_cast<uint32_t>(csv.Integer(stage, 0, kMost)),
               static_cast<uint32_t>(csv.Integer(rank, 0, kMost))}];
    parts.parts_ms[TimePartOf(what, dimension)] +=
        kMsPerUs * csv.Number(time, 0, kMostUs);
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  return LongestOf(ranks);
}

absl::StatusOr<CollectiveTotals> ParseCollectives(std::string_view file,
                                                  std::string_view contents) {
  CsvReader csv(file, contents);
  const size_t kind = csv.Column("collective");
  const size_t group = csv.Column("group");
  const size_t count = csv.Column("count");
  const size_t time = csv.Column("time_us");
  CollectiveTotals totals;
  while (csv.status().ok() && csv.NextRow()) {
    const ParallelDimension dimension =
        ReadName("group", kParallelDimensions, group, csv);
    CollectiveTotal& total =
        totals[{std::string(Name(dimension)), csv.cell(kind).text}];
    const int64_t runs = csv.Integer(count, 1, kMostCount);
    total.count += runs;
    total.ms +=
        kMsPerUs * static_cast<double>(runs) * csv.Number(time, 0, kMostUs);
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  return totals;
}

absl::StatusOr<FinishedRun> ReadFinishedRun(const std::string& folder) {
  FinishedRun run;
  run.label = folder;
  std::string file = folder + "/run.json";
  ASTRA_ASSIGN_OR_RETURN(std::string contents, ReadFile(file));
  ASTRA_ASSIGN_OR_RETURN(run.summary, ParseRunSummary(file, contents));
  file = folder + "/collectives.csv";
  ASTRA_ASSIGN_OR_RETURN(contents, ReadFile(file));
  ASTRA_ASSIGN_OR_RETURN(run.collectives, ParseCollectives(file, contents));
  if (!run.summary.has_breakdown) return run;
  file = folder + "/breakdown.csv";
  ASTRA_ASSIGN_OR_RETURN(contents, ReadFile(file));
  ASTRA_ASSIGN_OR_RETURN(run.stages, ParseBreakdown(file, contents));
  return run;
}

}  // namespace astra
