#include "astra-core/apps/run_program.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/chakra_program.h"
#include "astra-core/apps/flows_log.h"
#include "astra-core/apps/growing_file.h"
#include "astra-core/apps/jobs_program.h"
#include "astra-core/apps/pattern_program.h"
#include "astra-core/apps/run_estimate.h"
#include "astra-core/apps/run_files.h"
#include "astra-core/apps/run_json.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/apps/run_request.h"
#include "astra-core/apps/run_watch.h"
#include "astra-core/apps/simai_environment.h"
#include "astra-core/apps/work_budget.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/engine/simulation.h"
#include "astra-core/results/collectives_table.h"
#include "astra-core/results/columns.h"
#include "astra-core/run/run.h"
#include "collectives/closed_form.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status Estimate(const RunRequest& request) {
  ASTRA_ASSIGN_OR_RETURN(const RunEstimate estimate, EstimateRun(request));
  Print(DescribeEstimate(estimate, request.fidelity));
  return FlushStdout();
}

// Prints what the messages of the run will take, and refuses a run that does
// not fit. It does nothing with --stop-at, because nobody knows how far such a
// run gets.
absl::Status CheckBudget(const RunOptions& options, const RunRequest& request) {
  if (options.fidelity == Fidelity::kClosedForm ||
      options.stop_at != kMaxCollectiveTime) {
    return absl::OkStatus();
  }
  const absl::StatusOr<RunEstimate> estimate = EstimateRun(request);
  // The run itself reports this error.
  if (!estimate.ok()) return absl::OkStatus();
  return AnnounceWork({estimate->seconds, estimate->memory_bytes},
                      options.force);
}

// Runs `request`. Meanwhile collectives.csv in the output folder gets a line
// for each collective that ends. `flows` may be null.
absl::StatusOr<RunResult> RunWatched(const RunOptions& options,
                                     const FlowsLog* flows,
                                     RunRequest& request) {
  GrowingFile collectives(fmt::format("{}/collectives.csv", options.output),
                          CollectivesHeader());
  const std::vector<std::string> layers = LayerNames(request.program);
  RunWatch watch(options.environment.log_level == LogLevel::kInfo);
  if (flows != nullptr) {
    watch.CountMessages([flows] { return flows->num_arrived(); });
  }
  request.simulation.on_progress = [&](double fraction, TimePs simulated) {
    return watch.Update(fraction, simulated);
  };
  // A closed form is over at once, so it has no growing file.
  if (request.fidelity != Fidelity::kClosedForm) {
    request.simulation.on_collective = [&](const CollectiveRecord& record) {
      watch.End(record);
      std::string line;
      AppendCollective(record, layers[record.layer.index()], request.topology,
                       &line);
      collectives.Add(line);
    };
  }
  absl::StatusOr<RunResult> run = Run(request);
  if (run.ok()) return run;
  collectives.Remove();
  if (run.status().code() != absl::StatusCode::kFailedPrecondition) return run;
  return absl::FailedPreconditionError(fmt::format(
      "{}: {}", options.cluster_name(), std::string(run.status().message())));
}

absl::Status Simulate(const RunDefaults& defaults, const RunOptions& options,
                      const Warnings& warnings, RunRequest& request) {
  using Clock = std::chrono::steady_clock;
  ASTRA_RETURN_IF_ERROR(CheckBudget(options, request));
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  const std::unique_ptr<FlowsLog> flows = MakeFlowsLog(
      options, request.network, LayerNames(request.program), request.topology);
  if (flows != nullptr && options.report) flows->KeepTimes();
  request.simulation.message_log = flows.get();
  const Clock::time_point begin = Clock::now();
  ASTRA_ASSIGN_OR_RETURN(const RunResult run,
                         RunWatched(options, flows.get(), request));
  const std::chrono::duration<double> wall = Clock::now() - begin;
  ResultFiles results = MakeResultFiles(options, request, run, flows.get());
  std::vector<NamedFile>& files = results.files;
  files.push_back(
      {"run.json", RunJson(defaults.program, options, request, warnings, run)});
  files.push_back({"cost.json", CostJson(options, run, wall.count())});
  ASTRA_RETURN_IF_ERROR(folder.Write(files, kResultFiles));
  Print(DescribeResults(options, request, run, results));
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  return run.status;
}

absl::Status RunCommand(const RunDefaults& defaults, int argc,
                        const char* const* argv, const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(const CommandLine flags,
                         CommandLine::Parse(RunOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, defaults.program, HelpOf(defaults))) {
    return FlushStdout();
  }
  if (flags.has("columns")) {
    Print(DescribeColumns());
    return FlushStdout();
  }
  ASTRA_ASSIGN_OR_RETURN(
      const RunOptions options,
      ReadRunOptions(defaults, flags, SimaiVariablesOfProcess()));
  Warnings warnings = options.warnings;
  warnings.insert(warnings.end(), options.environment.warnings.begin(),
                  options.environment.warnings.end());
  if (options.jobs_file) {
    return RunJobsProgram(defaults, options, std::move(warnings), log);
  }
  if (options.chakra) {
    return RunChakraProgram(defaults, options, std::move(warnings), log);
  }
  if (options.pattern) {
    return RunPatternProgram(defaults, options, std::move(warnings), log);
  }
  ASTRA_ASSIGN_OR_RETURN(RunRequest request, ReadRequest(options, &warnings));
  if (options.environment.log_level != LogLevel::kError) log.Report(warnings);
  return options.estimate ? Estimate(request)
                          : Simulate(defaults, options, warnings, request);
}

}  // namespace

int RunProgram(const RunDefaults& defaults, int argc, const char* const* argv) {
  const Log log(defaults.program);
  return WithinMemory(log, [&] {
    return ExitCode(RunCommand(defaults, argc, argv, log), log);
  });
}

}  // namespace astra
