// simai_simulator: one iteration of a workload, message by message, on a
// network that is simulated.

#include <chrono>
#include <vector>

#include "astra-core/apps/run_output.h"
#include "astra-core/apps/simai_environment.h"
#include "astra-core/apps/simai_simulator_inputs.h"
#include "astra-core/apps/simai_simulator_options.h"
#include "astra-core/apps/simai_simulator_output.h"
#include "astra-core/apps/simai_simulator_run.h"
#include "astra-core/apps/simulator_columns.h"
#include "astra-core/apps/simulator_estimate.h"
#include "astra-core/apps/simulator_json.h"
#include "astra-core/apps/work_budget.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "collectives/closed_form.h"

namespace astra {
namespace {

absl::Status Estimate(const SimaiSimulatorOptions& options,
                      const SimaiSimulatorInputs& inputs) {
  ASTRA_ASSIGN_OR_RETURN(const SimulatorEstimate estimate,
                         EstimateRun(inputs, *options.backend));
  Print(DescribeEstimate(estimate, *options.backend));
  return FlushStdout();
}

// Says what the run will take, and refuses what does not fit. How far a run
// gets until --stop-at is not known.
absl::Status CheckBudget(const SimaiSimulatorOptions& options,
                         const SimaiSimulatorInputs& inputs) {
  if (options.stop_at != kMaxCollectiveTime) return absl::OkStatus();
  const absl::StatusOr<SimulatorEstimate> estimate =
      EstimateRun(inputs, *options.backend);
  // The run itself says what is wrong.
  if (!estimate.ok()) return absl::OkStatus();
  return AnnounceWork({estimate->seconds, estimate->memory_bytes},
                      options.force);
}

absl::Status Simulate(const SimaiSimulatorOptions& options,
                      const SimaiSimulatorInputs& inputs) {
  using Clock = std::chrono::steady_clock;
  ASTRA_RETURN_IF_ERROR(CheckBudget(options, inputs));
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  const Clock::time_point begin = Clock::now();
  ASTRA_ASSIGN_OR_RETURN(const SimulatorRun run, RunSimulator(options, inputs));
  const std::chrono::duration<double> wall = Clock::now() - begin;
  std::vector<NamedFile> files = ResultFiles(options, inputs, run);
  files.push_back({"cost.json", CostJson(options, run, wall.count())});
  ASTRA_RETURN_IF_ERROR(folder.Write(files, kResultFiles));
  Print(DescribeResults(options, inputs, run, files));
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  return run.status;
}

absl::Status Run(int argc, const char* const* argv, const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(
      const CommandLine flags,
      CommandLine::Parse(SimaiSimulatorOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, "simai_simulator", SimaiSimulatorHelp())) {
    return FlushStdout();
  }
  if (flags.has("columns")) {
    Print(DescribeSimulatorColumns());
    return FlushStdout();
  }
  ASTRA_ASSIGN_OR_RETURN(
      const SimaiSimulatorOptions options,
      ReadSimaiSimulatorOptions(flags, SimaiVariablesOfProcess()));
  ASTRA_ASSIGN_OR_RETURN(const SimaiSimulatorInputs inputs,
                         ReadInputs(options));
  if (options.environment.log_level != LogLevel::kError) {
    log.Report(inputs.warnings);
  }
  return options.estimate ? Estimate(options, inputs)
                          : Simulate(options, inputs);
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_simulator");
  return astra::WithinMemory(
      log, [&] { return astra::ExitCode(astra::Run(argc, argv, log), log); });
}
