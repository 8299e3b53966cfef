#include "astra-core/apps/prepared_run.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "astra-core/apps/flows_log.h"
#include "astra-core/apps/growing_file.h"
#include "astra-core/apps/job_folders.h"
#include "astra-core/apps/run_files.h"
#include "astra-core/apps/run_json.h"
#include "astra-core/apps/run_watch.h"
#include "astra-core/apps/work_budget.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/results/collectives_table.h"
#include "collectives/closed_form.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status PrintEstimate(const PreparedRun& prepared) {
  ASTRA_ASSIGN_OR_RETURN(const RunEstimate estimate, prepared.estimate());
  Print(DescribeEstimate(estimate, prepared.subject.fidelity));
  return FlushStdout();
}

// Prints what the messages of the run will take, and refuses a run that does
// not fit. It does nothing with --stop-at, because nobody knows how far such a
// run gets.
absl::Status CheckBudget(const RunOptions& options,
                         const PreparedRun& prepared) {
  if (options.fidelity == Fidelity::kClosedForm ||
      options.stop_at != kMaxCollectiveTime) {
    return absl::OkStatus();
  }
  const absl::StatusOr<RunEstimate> estimate = prepared.estimate();
  // The run itself reports this error.
  if (!estimate.ok()) return absl::OkStatus();
  return AnnounceWork({estimate->seconds, estimate->memory_bytes},
                      options.force);
}

std::string DescribeRestart(const Restart& restart) {
  std::string what;
  for (const Communication& each : restart.simulated) {
    constexpr double kMbPerByte = 1e-6;
    what += fmt::format("{}{} over {} of {:.3g} MB", what.empty() ? "" : ", ",
                        Name(each.kind), Name(each.dimension),
                        kMbPerByte * static_cast<double>(each.bytes.count()));
  }
  return fmt::format(
      "replays    cannot stand for {}, since {}: the run begins anew\n",
      what.empty() ? "anything" : what, restart.why);
}

// Runs it. Meanwhile collectives.csv in the output folder gets a line for each
// collective that ends.
absl::StatusOr<RunResult> RunWatched(const RunOptions& options,
                                     const PreparedRun& prepared) {
  GrowingFile collectives(fmt::format("{}/collectives.csv", options.output),
                          CollectivesHeader());
  RunWatch watch(options.environment.log_level == LogLevel::kInfo);
  prepared.simulation.on_progress = [&](const RunProgress& progress) {
    return watch.Update(progress);
  };
  prepared.simulation.on_restart = [](const Restart& restart) {
    Print(DescribeRestart(restart));
    FlushStdout().IgnoreError();
  };
  // A closed form is over at once, so it has no growing file.
  if (options.fidelity != Fidelity::kClosedForm) {
    prepared.simulation.on_collective = [&](const CollectiveRecord& record) {
      watch.End(record);
      std::string line;
      AppendCollective(record, prepared.layers[record.layer.index()],
                       prepared.subject.topology, &line);
      collectives.Add(line);
    };
  }
  absl::StatusOr<RunResult> run = prepared.run();
  if (run.ok()) return run;
  collectives.Remove();
  if (run.status().code() != absl::StatusCode::kFailedPrecondition) return run;
  return absl::FailedPreconditionError(fmt::format(
      "{}: {}", options.cluster_name(), std::string(run.status().message())));
}

}  // namespace

absl::Status CarryOut(const RunDefaults& defaults, const RunOptions& options,
                      const Warnings& warnings, const Log& log,
                      const PreparedRun& prepared) {
  using Clock = std::chrono::steady_clock;
  const RunSubject& subject = prepared.subject;
  if (options.environment.log_level != LogLevel::kError) log.Report(warnings);
  if (options.estimate) return PrintEstimate(prepared);
  ASTRA_RETURN_IF_ERROR(CheckBudget(options, prepared));
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  const std::unique_ptr<FlowsLog> flows =
      MakeFlowsLog(options, subject.network, prepared.layers, subject.topology);
  if (flows != nullptr && options.report) flows->KeepTimes();
  prepared.simulation.message_log = flows.get();
  const Clock::time_point begin = Clock::now();
  ASTRA_ASSIGN_OR_RETURN(const RunResult run, RunWatched(options, prepared));
  const std::chrono::duration<double> wall = Clock::now() - begin;
  ResultFiles results = MakeResultFiles(options, subject, run, flows.get());
  std::vector<NamedFile>& files = results.files;
  files.push_back(
      {"run.json", RunJson(defaults.program, options, subject, warnings, run)});
  files.push_back({"cost.json", CostJson(options, run, wall.count())});
  ASTRA_RETURN_IF_ERROR(EmptyJobFolders(options.output));
  ASTRA_RETURN_IF_ERROR(folder.Write(files, kResultFiles));
  Print(DescribeResults(options, subject, run, results));
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  return run.status;
}

}  // namespace astra
