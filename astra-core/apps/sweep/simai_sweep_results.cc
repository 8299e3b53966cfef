#include "astra-core/apps/sweep/simai_sweep_results.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/sweep/simai_sweep_options.h"
#include "astra-core/apps/sweep/simai_sweep_plan.h"
#include "astra-core/base/files.h"
#include "astra-core/base/json_writer.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/sweep/execution/slurm_scheduler.h"
#include "astra-core/sweep/results/html_report.h"
#include "astra-core/sweep/results/ranking.h"
#include "astra-core/sweep/results/row_text.h"
#include "astra-core/sweep/results/table_text.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

absl::StatusOr<SweepTable> TableOf(const std::string& folder) {
  ASTRA_ASSIGN_OR_RETURN(const SweepStore store, OpenCollected(folder));
  return store.Table();
}

// How much of the work of a sweep is done, and how long the rest may take.
struct Progress {
  size_t finished = 0;
  size_t illegal = 0;
  size_t failed = 0;
  size_t pending = 0;
  // Mean time of the points that have run; 0 if none has.
  double mean_wall_s = 0;
};

Progress ProgressOf(const SweepTable& table) {
  Progress progress;
  progress.finished = CountFinished(table);
  progress.illegal = CountRows(table, PointState::kIllegal);
  progress.failed = CountRows(table, PointState::kFailed);
  progress.pending = CountRows(table, PointState::kPending);
  double wall_s = 0;
  size_t num_runs = 0;
  for (const SweepRow& row : table.rows) {
    if (!row.cost) continue;
    wall_s += row.cost->wall_s;
    ++num_runs;
  }
  if (num_runs > 0) {
    progress.mean_wall_s = wall_s / static_cast<double>(num_runs);
  }
  return progress;
}

// Returns a bar such as "[#########...........]".
std::string Bar(double fraction) {
  constexpr size_t kWidth = 40;
  const auto filled = static_cast<size_t>(fraction * kWidth);
  return fmt::format("[{}{}]", std::string(filled, '#'),
                     std::string(kWidth - filled, '.'));
}

// Returns a line for each reason of failure, with the points that failed for
// it.
std::string DescribeFailures(const SweepTable& table) {
  std::map<std::string, std::vector<uint32_t>> by_reason;
  for (const SweepRow& row : table.rows) {
    if (row.state == PointState::kFailed) {
      by_reason[row.reason].push_back(row.number);
    }
  }
  std::string text;
  for (const auto& [reason, numbers] : by_reason) {
    text +=
        fmt::format("failed     point{} {}: {}\n",
                    numbers.size() == 1 ? "" : "s", PointList(numbers), reason);
  }
  return text;
}

std::string DescribePoints(const SweepTable& table) {
  std::string text;
  for (const SweepRow& row : table.rows) {
    text += fmt::format("point      {:<6} {:<9}", row.number,
                        PointStateName(row.state));
    for (size_t i = 0; i < table.num_axes; ++i) {
      text += fmt::format(" {}={}", table.variables[i], row.values[i]);
    }
    if (row.cost) {
      text += fmt::format("  {:.3g} s, {:.0f} MiB", row.cost->wall_s,
                          row.cost->peak_memory_mib);
    }
    text += fmt::format("  points/{}\n", row.key);
  }
  return text;
}

std::string DescribeStatus(const SweepTable& table, const Progress& progress,
                           const std::string& holder, bool points) {
  const size_t total = table.rows.size();
  const size_t over = progress.finished + progress.illegal + progress.failed;
  const double fraction =
      total == 0 ? 1 : static_cast<double>(over) / static_cast<double>(total);
  std::string text = fmt::format(
      "sweep      {}: {}{}{}\n"
      "progress   {} {} of {}: {} finished{}{}, {} failed, {} not run\n",
      table.name, table.program, table.version.empty() ? "" : " ",
      table.version, Bar(fraction), over, total, progress.finished,
      InfeasibleText(table), IllegalText(table), progress.failed,
      progress.pending);
  if (progress.pending > 0) {
    text += holder.empty()
                ? "run by     nobody now; simai_sweep resume goes on\n"
                : fmt::format("run by     {}\n", holder);
    if (over > 0) {
      text += fmt::format(
          "left       {:.0f} s of one core, at {:.3g} s a point\n",
          progress.mean_wall_s * static_cast<double>(progress.pending),
          progress.mean_wall_s);
    }
  }
  text += IllegalReasonsText(table) + DescribeFailures(table);
  if (progress.failed > 0) {
    text +=
        "           log.txt in points/KEY has more (--points lists them); "
        "simai_sweep retry runs them again\n";
  }
  if (points) text += DescribePoints(table);
  return text;
}

// Returns the status as a line with a JSON object.
std::string StatusLine(const SweepTable& table, const Progress& progress,
                       const std::string& holder) {
  JsonWriter json;
  json.BeginObject()
      .Field("sweep", table.name)
      .Field("points", table.rows.size())
      .Field("finished", progress.finished)
      .Field("infeasible", CountRows(table, PointState::kInfeasible))
      .Field("illegal", progress.illegal)
      .Field("failed", progress.failed)
      .Field("not_run", progress.pending)
      .Field("mean_wall_s", progress.mean_wall_s)
      .Field("run_by", holder);
  json.Key("failures").BeginArray();
  for (const SweepRow& row : table.rows) {
    if (row.state != PointState::kFailed) continue;
    json.BeginObject()
        .Field("point", row.number)
        .Field("reason", row.reason)
        .EndObject();
  }
  return json.EndArray().EndObject().text() + "\n";
}

// Returns who runs the sweep, as "process PID on HOST" or "Slurm job ID"; empty
// if nobody does.
std::string HolderOf(const SweepFolder& folder) {
  std::string holder;
  const auto lock = SweepLock::Take(folder, &holder);
  if (lock.ok() && !lock->has_value()) return "process " + holder;
  const std::string job = QueuedJob(folder);
  return job.empty() ? "" : "Slurm job " + job;
}

// Writes `text` to `file` if it is given, else prints it to stdout.
absl::Status Put(const std::optional<std::string>& file,
                 const std::string& text) {
  if (file) return WriteFile(*file, text);
  Print(text);
  return FlushStdout();
}

// Returns the rows that are ranked, best first.
SweepTable Ranked(const SweepTable& table, size_t top) {
  SweepTable ranked = table;
  ranked.rows.clear();
  for (const size_t row : RankedRows(table)) {
    if (ranked.rows.size() == top) break;
    ranked.rows.push_back(table.rows[row]);
  }
  return ranked;
}

absl::StatusOr<int> CompareOne(const CommandLine& flags, size_t top) {
  const SweepFolder folder(flags.operands().front());
  ASTRA_ASSIGN_OR_RETURN(const SweepTable table,
                         TableOf(flags.operands().front()));
  const std::string report = flags.value("html").value_or(folder.report());
  Print(flags.has("json") ? TableJsonLines(Ranked(table, top))
                          : DescribeComparison(table, top));
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  ASTRA_RETURN_IF_ERROR(WriteFile(report, HtmlReport(table)));
  if (!flags.has("json")) Print(fmt::format("\nreport     {}\n", report));
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  return CountFinished(table) > 0 ? 0 : 1;
}

absl::StatusOr<int> CompareTwo(const CommandLine& flags, size_t top) {
  for (const std::string_view option : {"html", "json"}) {
    if (flags.has(option)) {
      return absl::InvalidArgumentError(
          fmt::format("--{} has no effect: it is of one sweep", option));
    }
  }
  ASTRA_ASSIGN_OR_RETURN(const SweepTable a, TableOf(flags.operands()[0]));
  ASTRA_ASSIGN_OR_RETURN(const SweepTable b, TableOf(flags.operands()[1]));
  ASTRA_ASSIGN_OR_RETURN(const std::string text, DescribeDifference(a, b, top));
  Print(text);
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  return 0;
}

}  // namespace

absl::StatusOr<int> SweepStatusCommand(const CommandLine& flags) {
  ASTRA_ASSIGN_OR_RETURN(const SweepOutput output, ReadSweepOutput(flags));
  const SweepFolder folder(flags.operands().front());
  ASTRA_ASSIGN_OR_RETURN(const SweepTable table,
                         TableOf(flags.operands().front()));
  const Progress progress = ProgressOf(table);
  const std::string holder = progress.pending > 0 ? HolderOf(folder) : "";
  if (output == SweepOutput::kText) {
    Print(DescribeStatus(table, progress, holder, flags.has("points")));
  } else if (output == SweepOutput::kJsonLines) {
    if (flags.has("points")) Print(TableJsonLines(table));
    Print(StatusLine(table, progress, holder));
  }
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  const bool is_over = progress.failed == 0 && progress.pending == 0;
  return is_over && progress.finished > 0 ? 0 : 1;
}

absl::StatusOr<int> SweepExportCommand(const CommandLine& flags) {
  if (flags.has("csv") && flags.has("json")) {
    return absl::InvalidArgumentError("--csv and --json: give one of them");
  }
  if (flags.has("cost") && flags.has("json")) {
    return absl::InvalidArgumentError(
        "--cost has no effect: --json has it always");
  }
  ASTRA_ASSIGN_OR_RETURN(const SweepTable table,
                         TableOf(flags.operands().front()));
  ASTRA_RETURN_IF_ERROR(
      Put(flags.value("output"), flags.has("json")
                                     ? TableJsonLines(table)
                                     : TableCsv(table, flags.has("cost"))));
  return 0;
}

absl::StatusOr<int> SweepCompareCommand(const CommandLine& flags) {
  ASTRA_ASSIGN_OR_RETURN(const int64_t top,
                         flags.integer("top", 10, 1, 100'000));
  return flags.operands().size() == 1
             ? CompareOne(flags, static_cast<size_t>(top))
             : CompareTwo(flags, static_cast<size_t>(top));
}

}  // namespace astra
