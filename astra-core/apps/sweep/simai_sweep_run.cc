#include "astra-core/apps/sweep/simai_sweep_run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/sweep/simai_sweep_estimate.h"
#include "astra-core/apps/sweep/simai_sweep_options.h"
#include "astra-core/apps/sweep/simai_sweep_plan.h"
#include "astra-core/apps/sweep/simai_sweep_progress.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/stop_signals.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/sweep/execution/slurm_scheduler.h"
#include "astra-core/sweep/results/html_report.h"
#include "astra-core/sweep/results/ranking.h"
#include "astra-core/sweep/results/row_text.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr size_t kTopRows = 5;  // Rows that a run shows at its end.

// Keeps records for a moment, so that many points share a transaction. A record
// that is lost with the process is still in the file that its point wrote.
class RecordWriter {
 public:
  explicit RecordWriter(SweepStore& store) : store_(store) {}

  absl::Status Add(const PointRecord& record) {
    kept_.push_back(record);
    const Clock::time_point now = Clock::now();
    if (now < next_) return absl::OkStatus();
    next_ = now + std::chrono::milliseconds(500);
    return Write();
  }

  absl::Status Write() {
    const std::vector<PointRecord> records = std::exchange(kept_, {});
    return store_.Add(records);
  }

 private:
  using Clock = std::chrono::steady_clock;

  SweepStore& store_;
  std::vector<PointRecord> kept_;
  Clock::time_point next_{};
};

absl::Status RunScheduler(const SweepRun& run, const SweepRunOptions& options,
                          const SweepEvents& events) {
  for (const SchedulerEntry& entry : Schedulers()) {
    if (entry.name == options.scheduler) {
      return entry.run(run, options.options, events);
    }
  }
  return absl::InternalError("no such scheduler");
}

SweepEvents EventsOf(SweepProgress& progress,
                     std::function<absl::Status(const PointRecord&)> keep) {
  return SweepEvents{
      .on_record =
          [&progress, keep = std::move(keep)](const PointRecord& record) {
            progress.OnRecord(record);
            return keep(record);
          },
      .on_running = [&progress](int64_t n) { progress.OnRunning(n); },
      .on_note = [&progress](std::string_view note) { progress.OnNote(note); },
  };
}

// Returns the exit code for an error such as "stopped by SIGINT".
int StoppedExitCode(const absl::Status& status) {
  const std::string message(status.message());
  return StopCode(message.substr(message.rfind(' ') + 1));
}

// Takes the folder's lock, once no other process runs this sweep.
absl::StatusOr<SweepLock> WaitForLock(const SweepFolder& folder,
                                      SweepOutput output) {
  std::optional<StopSignals> signals;
  while (true) {
    std::string holder;
    ASTRA_ASSIGN_OR_RETURN(std::optional<SweepLock> lock,
                           SweepLock::Take(folder, &holder));
    if (lock) return *std::move(lock);
    if (!signals) {
      signals.emplace();
      const std::string text =
          fmt::format("for {}, which runs this sweep",
                      holder.empty() ? "another process" : "process " + holder);
      // Prints the note even with --quiet: a wait without end must be seen.
      if (output == SweepOutput::kQuiet) {
        Log("simai_sweep").Warning("waiting " + text);
      }
      PrintNote("waiting    " + text, output);
      ASTRA_RETURN_IF_ERROR(FlushStdout());
    }
    if (const char* signal = signals->Wait(std::chrono::milliseconds(200))) {
      return absl::CancelledError(fmt::format("stopped by {}", signal));
    }
  }
}

// Makes failed points pending again, including those whose records nobody has
// collected yet.
absl::Status ForgetFailed(const PlannedSweep& plan, SweepStore& store) {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<std::string> keys,
                         store.ForgetFailed());
  for (const std::string& key : keys) {
    std::error_code error;
    std::filesystem::remove(plan.folder.RecordFile(key), error);
    if (error) {
      return absl::PermissionDeniedError(
          fmt::format("{}: {}", plan.folder.RecordFile(key), error.message()));
    }
  }
  return absl::OkStatus();
}

// Returns Aborted if all points have illegal layouts. A sweep whose rules leave
// nothing to compare is most likely a mistake.
absl::Status CheckSomeIsLegal(const SweepTable& table) {
  const size_t illegal = CountRows(table, PointState::kIllegal);
  if (illegal == 0 || illegal < table.rows.size()) return absl::OkStatus();
  return absl::AbortedError(
      fmt::format("no point of the sweep has a legal layout; point {}: {}",
                  table.rows.front().number, table.rows.front().reason));
}

// Returns Aborted if an objective or a requirement of the sweep means something
// that no point has: nothing can be compared then.
absl::Status CheckNames(const SweepTable& table) {
  const size_t finished = CountFinished(table);
  if (finished == 0) return absl::OkStatus();
  const std::vector<std::string_view> known(table.metrics.begin(),
                                            table.metrics.end());
  for (const SweepObjective& objective : table.objectives) {
    if (!FindMetric(table, objective.metric)) {
      return absl::AbortedError(UnknownName("metric", objective.metric, known));
    }
  }
  const auto is_unclear = [](const SweepRow& row) { return row.is_unclear; };
  const auto begin = table.rows.begin();
  const auto end = table.rows.end();
  const auto unclear = std::count_if(begin, end, is_unclear);
  if (static_cast<size_t>(unclear) < finished) return absl::OkStatus();
  const auto first = std::find_if(begin, end, is_unclear);
  return absl::AbortedError(fmt::format("no point is feasible; point {}: {}",
                                        first->number, first->reason));
}

// Returns Aborted with the reason of the first if points failed.
absl::Status CheckNoneFailed(const SweepTable& table) {
  const size_t failed = CountRows(table, PointState::kFailed);
  for (const SweepRow& row : table.rows) {
    if (row.state != PointState::kFailed) continue;
    return absl::AbortedError(fmt::format(
        "{} of {} point{} failed; point {}: {}", failed, table.rows.size(),
        table.rows.size() == 1 ? "" : "s", row.number, row.reason));
  }
  return absl::OkStatus();
}

// Writes the report and says how the sweep ended.
absl::StatusOr<int> Conclude(const PlannedSweep& plan, const SweepStore& store,
                             const absl::Status& status,
                             const SweepRunOptions& options,
                             SweepProgress& progress) {
  ASTRA_ASSIGN_OR_RETURN(const SweepTable table, store.Table());
  ASTRA_RETURN_IF_ERROR(WriteFile(plan.folder.report(), HtmlReport(table)));
  SweepEnd end;
  end.status = status;
  end.num_finished = CountFinished(table);
  end.num_infeasible = CountRows(table, PointState::kInfeasible);
  end.num_illegal = CountRows(table, PointState::kIllegal);
  end.num_failed = CountRows(table, PointState::kFailed);
  end.num_pending = CountRows(table, PointState::kPending);
  const bool is_submitted =
      status.ok() && end.num_pending > 0 && !options.options.slurm.wait;
  if (options.output == SweepOutput::kText && end.num_finished > 0) {
    Print(DescribeComparison(table, kTopRows));
    Print(fmt::format("\nreport     {}\n", plan.folder.report()));
  }
  end.how = is_submitted ? "submitted" : status.ok() ? "finished" : "stopped";
  progress.End(end);
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  if (absl::IsCancelled(status)) return StoppedExitCode(status);
  ASTRA_RETURN_IF_ERROR(CheckSomeIsLegal(table));
  ASTRA_RETURN_IF_ERROR(CheckNoneFailed(table));
  if (end.num_pending > 0) return is_submitted ? 0 : 1;
  ASTRA_RETURN_IF_ERROR(CheckNames(table));
  return 0;
}

// Runs the points that have not run, and collects their records.
absl::StatusOr<int> RunPlan(const PlannedSweep& plan,
                            const SweepRunOptions& options, bool retry) {
  ASTRA_RETURN_IF_ERROR(plan.folder.Create());
  ASTRA_ASSIGN_OR_RETURN(const SweepLock lock,
                         WaitForLock(plan.folder, options.output));
  RemoveLeftTemporaries(plan.folder.path());
  RemoveLeftTemporaries(plan.folder.path() + "/inputs");
  ASTRA_ASSIGN_OR_RETURN(SweepStore store,
                         SweepStore::Open(plan.folder.database()));
  ASTRA_RETURN_IF_ERROR(store.SetPlan(plan.sweep, plan.points, plan.prepared));
  ASTRA_RETURN_IF_ERROR(KeepSweepFile(plan, options));
  ASTRA_RETURN_IF_ERROR(CollectRecords(plan.folder, store));
  if (retry) ASTRA_RETURN_IF_ERROR(ForgetFailed(plan, store));
  ASTRA_ASSIGN_OR_RETURN(const std::set<std::string> keys, store.PendingKeys());
  const std::vector<const PreparedPoint*> points = PointsWithKeys(plan, keys);

  if (!points.empty() && options.scheduler == "local") {
    if (const std::string job = QueuedJob(plan.folder); !job.empty()) {
      return absl::FailedPreconditionError(fmt::format(
          "Slurm job {} still holds points of this sweep: go on with "
          "--scheduler slurm, or end it with scancel {}",
          job, job));
    }
  }

  SweepProgress progress(plan, points, options.output);
  ASTRA_ASSIGN_OR_RETURN(const size_t num_failed, store.CountFailed());
  progress.Begin(num_failed);
  RecordWriter writer(store);
  absl::Status status;
  if (!points.empty()) {
    const SweepEvents events = EventsOf(
        progress,
        [&writer](const PointRecord& record) { return writer.Add(record); });
    status = RunScheduler(RunOf(plan, options, points), options, events);
  }
  ASTRA_RETURN_IF_ERROR(writer.Write());
  if (!status.ok() && !absl::IsCancelled(status)) return status;
  return Conclude(plan, store, status, options, progress);
}

// Runs a few points for a program that drives the sweep from outside. Their
// records are on disk, where resume, status or run collects them.
absl::StatusOr<int> RunPoints(const PlannedSweep& plan,
                              const SweepRunOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<const PreparedPoint*> all,
                         PointsWithNumbers(plan, options.points));
  ASTRA_RETURN_IF_ERROR(plan.folder.Create());
  std::error_code error;
  ASTRA_RETURN_IF_ERROR(CheckSweepOfFolder(plan));
  if (!std::filesystem::exists(plan.folder.origin_file(), error)) {
    ASTRA_RETURN_IF_ERROR(KeepSweepFile(plan, options));
  }
  std::vector<const PreparedPoint*> points;
  SweepEnd end;
  const auto count = [&end](const PointRecord& record) {
    const PointState state = StateOf(record);
    ++(state == PointState::kFinished  ? end.num_finished
       : state == PointState::kIllegal ? end.num_illegal
                                       : end.num_failed);
    return absl::OkStatus();
  };
  for (const PreparedPoint* point : all) {
    const std::optional<PointRecord> record =
        ReadRecordOrWarn(plan.folder, point->key());
    if (!record) points.push_back(point);
    if (record) ASTRA_RETURN_IF_ERROR(count(*record));
  }
  SweepProgress progress(plan, points, options.output);
  progress.Begin(end.num_failed);
  if (!points.empty()) {
    end.status = RunScheduler(RunOf(plan, options, points), options,
                              EventsOf(progress, count));
  }
  if (!end.status.ok() && !absl::IsCancelled(end.status)) return end.status;
  end.how = end.status.ok() ? "finished" : "stopped";
  const size_t num_good = end.num_finished + end.num_illegal;
  end.num_pending = all.size() - num_good - end.num_failed;
  progress.End(end);
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  if (absl::IsCancelled(end.status)) return StoppedExitCode(end.status);
  return num_good == all.size() ? 0 : 1;
}

// Returns `result`, or an exit code if the user stopped the program while it
// waited for another process, which is no error.
absl::StatusOr<int> OrStopped(absl::StatusOr<int> result, SweepOutput output) {
  if (!absl::IsCancelled(result.status())) return result;
  PrintNote(
      fmt::format("stopped    {}", std::string(result.status().message())),
      output);
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  return StoppedExitCode(result.status());
}

absl::StatusOr<int> GoOn(const CommandLine& flags, bool retry) {
  ASTRA_ASSIGN_OR_RETURN(SweepRunOptions options, ReadSweepRunOptions(flags));
  ASTRA_ASSIGN_OR_RETURN(const PlannedSweep plan,
                         PlanSweepFolder(flags.operands().front(), &options));
  // Keeps stop signals until objects that wait for signals see them.
  const StopSignals from_now_on;
  return OrStopped(RunPlan(plan, options, retry), options.output);
}

}  // namespace

absl::StatusOr<int> SweepRunCommand(const CommandLine& flags) {
  ASTRA_ASSIGN_OR_RETURN(const SweepRunOptions options,
                         ReadSweepRunOptions(flags));
  ASTRA_ASSIGN_OR_RETURN(const PlannedSweep plan,
                         PlanSweepFile(flags.operands().front(), options));
  if (options.count) {
    Print(fmt::format("{}\n", plan.prepared.size()));
    ASTRA_RETURN_IF_ERROR(FlushStdout());
    return 0;
  }
  const StopSignals from_now_on;
  if (options.dry_run) return DryRun(plan, options);
  if (!options.points.empty())
    return OrStopped(RunPoints(plan, options), options.output);
  return OrStopped(RunPlan(plan, options, false), options.output);
}

absl::StatusOr<int> SweepResumeCommand(const CommandLine& flags) {
  return GoOn(flags, false);
}

absl::StatusOr<int> SweepRetryCommand(const CommandLine& flags) {
  return GoOn(flags, true);
}

}  // namespace astra
