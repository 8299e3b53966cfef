#include "astra-core/apps/sweep/simai_sweep_estimate.h"

#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "astra-core/base/json_writer.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/sweep/execution/local_scheduler.h"
#include "astra-core/sweep/results/sweep_table.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr size_t kMaxSkippedLines = 1000;  // Limit for people.

// Records of points that have run, by key.
using Records = std::map<std::string, PointRecord, std::less<>>;

// A folder that is removed together with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path(error);
    std::string path = (folder / "simai_sweep_XXXXXX").string();
    if (!error && mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~TemporaryFolder() {
    std::error_code ignored;  // A folder that is left harms nobody.
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Records KnownRecords(const PlannedSweep& plan) {
  Records records;
  for (const PreparedPoint& point : plan.prepared) {
    std::optional<PointRecord> record =
        ReadRecordOrWarn(plan.folder, point.key());
    if (record) records.emplace(point.key(), *std::move(record));
  }
  return records;
}

// Returns the points without a record, each key once.
std::vector<const PreparedPoint*> PointsToRun(const PlannedSweep& plan,
                                              const Records& records) {
  std::set<std::string> keys;
  for (const PreparedPoint& point : plan.prepared) {
    if (records.count(point.key()) == 0) keys.insert(point.key());
  }
  return PointsWithKeys(plan, keys);
}

struct Estimate {
  size_t num_seen = 0;  // Points that the estimate is made from.
  size_t num_late = 0;  // Trial points that were stopped for time.
  // Descriptions of trial points that failed or lack a metric of an objective.
  std::vector<std::string> faults;
  std::vector<std::string> illegal;  // Trial points with illegal layouts.
  double mean_wall_s = 0;
  double peak_memory_mib = 0;
};

void Add(const PointRecord& record, Estimate& estimate) {
  ++estimate.num_seen;
  estimate.mean_wall_s += (record.cost.wall_s - estimate.mean_wall_s) /
                          static_cast<double>(estimate.num_seen);
  estimate.peak_memory_mib =
      std::max(estimate.peak_memory_mib, record.cost.peak_memory_mib);
}

// Returns "point 3 (tp=8): gen_workload: ..." for a trial that failed, is
// illegal, or lacks a metric of an objective; else an empty string.
std::string FaultOf(const PlannedSweep& plan,
                    const std::vector<const PreparedPoint*>& probes,
                    const PointRecord& record) {
  const auto probe = std::find_if(
      probes.begin(), probes.end(),
      [&](const PreparedPoint* it) { return it->key() == record.key; });
  const SweepPoint& point = (*probe)->point;
  std::string what = record.reason;
  std::vector<std::string_view> known;
  known.reserve(record.metrics.size() + plan.sweep.metrics.size());
  for (const Metric& metric : record.metrics) known.push_back(metric.name);
  for (const SweepMetric& metric : plan.sweep.metrics) {
    known.push_back(metric.name);
  }
  for (const SweepObjective& objective : plan.sweep.objectives) {
    const bool is_known =
        std::find(known.begin(), known.end(), objective.metric) != known.end();
    if (record.finished && !is_known) {
      what = UnknownName("metric", objective.metric, known);
    }
  }
  return what.empty()
             ? ""
             : fmt::format("point {} ({}): {}", point.number,
                           DescribeVariables(plan.points.axis_variables,
                                             point.variables),
                           what);
}

// Runs some of `points` to measure what they take.
absl::StatusOr<Estimate> Probe(
    const PlannedSweep& plan, const SweepRunOptions& options,
    const std::vector<const PreparedPoint*>& points) {
  const size_t num_probes = std::min(kProbes, points.size());
  std::vector<const PreparedPoint*> probes;
  probes.reserve(num_probes);
  for (size_t i = 0; i < num_probes; ++i) {
    // Both ends are included, since axes often go from small to large.
    probes.push_back(
        points[num_probes == 1 ? 0
                               : i * (points.size() - 1) / (num_probes - 1)]);
  }
  const TemporaryFolder temporary;
  const SweepFolder folder(temporary.path());
  ASTRA_RETURN_IF_ERROR(folder.Create());
  const SweepRun whole = RunOf(plan, options, probes);
  const SweepRun run{folder,        whole.name,           whole.sweep_text,
                     whole.origin,  whole.program_folder, whole.sweep_program,
                     whole.version, whole.keep_bytes,     whole.points};
  Estimate estimate;
  const SweepEvents events{
      .on_record =
          [&](const PointRecord& record) {
            if (record.exit_code == 128 + SIGKILL) {
              ++estimate.num_late;
            } else if (std::string fault = FaultOf(plan, probes, record);
                       !fault.empty()) {
              (record.illegal ? estimate.illegal : estimate.faults)
                  .push_back(std::move(fault));
            }
            if (record.finished || record.exit_code == 128 + SIGKILL) {
              Add(record, estimate);
            }
            return absl::OkStatus();
          },
      .on_running = [](int64_t) {},
      .on_note = [](std::string_view) {},
  };
  SchedulerOptions limits;
  limits.local.jobs = 1;
  limits.timeout = std::chrono::seconds(kProbeSeconds);
  ASTRA_RETURN_IF_ERROR(RunLocally(run, limits, events));
  return estimate;
}

std::string DescribeTime(double seconds) {
  if (seconds < 120) return fmt::format("{:.2g} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string DescribeEstimate(const Estimate& estimate, size_t to_run,
                             int64_t jobs, bool probed) {
  if (to_run == 0) return "estimate   nothing is left to run\n";
  if (estimate.num_seen == 0) {
    return "estimate   none: no point that was tried got through\n";
  }
  const double total = estimate.mean_wall_s * static_cast<double>(to_run) /
                       static_cast<double>(jobs);
  std::string text = fmt::format(
      "estimate   {}{} on {} core{} here: {} a point, {:.0f} MiB; from {} "
      "point{} that {}\n",
      estimate.num_late > 0 ? "more than " : "", DescribeTime(total), jobs,
      jobs == 1 ? "" : "s", DescribeTime(estimate.mean_wall_s),
      estimate.peak_memory_mib, estimate.num_seen,
      estimate.num_seen == 1 ? "" : "s",
      !probed                  ? "ran before"
      : estimate.num_seen == 1 ? "was tried in a temporary folder"
                               : "were tried in a temporary folder");
  if (estimate.num_late > 0) {
    text += fmt::format("           {} of them were given up after {} s\n",
                        estimate.num_late, kProbeSeconds);
  }
  return text;
}

std::string_view StateNameOf(const Records& records,
                             const PreparedPoint& point) {
  const auto found = records.find(point.key());
  if (found == records.end()) return "to run";
  return PointStateName(StateOf(found->second));
}

void PrintPoints(const PlannedSweep& plan, const Records& records) {
  const SweepPoints& points = plan.points;
  Print(fmt::format("sweep      {}: {} point{}, {} left out by rules\n",
                    plan.sweep.name, points.points.size(),
                    points.points.size() == 1 ? "" : "s",
                    points.skipped.size()));
  for (const PreparedPoint& point : plan.prepared) {
    Print(fmt::format(
        "point      {:<6} {:<9} {}\n", point.point.number,
        StateNameOf(records, point),
        DescribeVariables(points.axis_variables, point.point.variables)));
  }
  for (size_t i = 0; i < points.skipped.size(); ++i) {
    if (i == kMaxSkippedLines) {
      Print(fmt::format("           {} more are left out (--json lists all)\n",
                        points.skipped.size() - i));
      break;
    }
    const SkippedPoint& skipped = points.skipped[i];
    const SweepRule& rule = plan.sweep.rules[skipped.rule];
    Print(fmt::format(
        "left out   {}: {} {}\n",
        DescribeVariables(points.axis_variables,
                          AxisVariablesOf(plan.sweep, skipped.combination)),
        rule.is_exclusion ? "excluded by" : "does not satisfy",
        rule.expression.text()));
  }
}

// Adds the field "variables".
void AddVariables(const SweepPoints& points, const SweepVariables& values,
                  JsonWriter& json) {
  json.Key("variables").BeginObject();
  for (const std::string& name : points.axis_variables) {
    json.Field(name, values.find(name)->second);
  }
  json.EndObject();
}

void PrintJson(const PlannedSweep& plan, const Records& records,
               const Estimate& estimate, size_t to_run) {
  for (const PreparedPoint& point : plan.prepared) {
    JsonWriter json;
    json.BeginObject()
        .Field("event", "point")
        .Field("point", point.point.number)
        .Field("state", StateNameOf(records, point));
    AddVariables(plan.points, point.point.variables, json);
    Print(json.EndObject().text() + "\n");
  }
  for (const SkippedPoint& skipped : plan.points.skipped) {
    const SweepRule& rule = plan.sweep.rules[skipped.rule];
    JsonWriter json;
    json.BeginObject().Field("event", "left_out");
    AddVariables(plan.points, AxisVariablesOf(plan.sweep, skipped.combination),
                 json);
    json.Field("rule", rule.expression.text()).Field("where", rule.where);
    Print(json.EndObject().text() + "\n");
  }
  JsonWriter json;
  json.BeginObject()
      .Field("event", "estimate")
      .Field("to_run", to_run)
      .Field("mean_wall_s", estimate.mean_wall_s)
      .Field("peak_memory_mib", estimate.peak_memory_mib)
      .Field("from_points", estimate.num_seen)
      .Field("given_up", estimate.num_late);
  json.Key("illegal").Texts(estimate.illegal);
  json.Key("faults").Texts(estimate.faults);
  Print(json.EndObject().text() + "\n");
}

}  // namespace

absl::StatusOr<int> DryRun(const PlannedSweep& plan,
                           const SweepRunOptions& options) {
  const Records records = KnownRecords(plan);
  const std::vector<const PreparedPoint*> points = PointsToRun(plan, records);
  Estimate estimate;
  for (const auto& [_, record] : records) Add(record, estimate);
  const bool probed = records.empty();
  if (probed && !points.empty()) {
    ASTRA_ASSIGN_OR_RETURN(estimate, Probe(plan, options, points));
  }
  const int64_t jobs =
      options.options.local.jobs > 0
          ? options.options.local.jobs
          : std::max<int64_t>(1, std::thread::hardware_concurrency());
  if (options.output == SweepOutput::kJsonLines) {
    PrintJson(plan, records, estimate, points.size());
  } else if (options.output == SweepOutput::kText) {
    PrintPoints(plan, records);
    for (const std::string& illegal : estimate.illegal) {
      Print(fmt::format("left out   {}\n", illegal));
    }
    for (const std::string& fault : estimate.faults) {
      Print(fmt::format("failed     {}\n", fault));
    }
    Print(DescribeEstimate(estimate, points.size(), jobs, probed));
  }
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  return estimate.faults.empty() ? 0 : 1;
}

}  // namespace astra
