// simai_analytical: how long one iteration takes on a cluster, and why.

#include <memory>
#include <string>
#include <variant>

#include "astra-core/apps/command_line.h"
#include "astra-core/apps/main_support.h"
#include "astra-core/apps/run_json.h"
#include "astra-core/apps/simai_analytical_inputs.h"
#include "astra-core/apps/simai_analytical_options.h"
#include "astra-core/apps/version.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/progress.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/report.h"
#include "astra-core/engine/simulation.h"
#include "astra-core/engine/summary.h"
#include "fmt/format.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "topology/routes.h"

namespace astra {
namespace {

absl::StatusOr<SimulationResult> RunOn(const SimaiAnalyticalInputs& inputs,
                                       SimulationOptions options,
                                       const std::string& topology_file) {
  Routes routes(inputs.topology);
  const NetworkFactory new_network = [&] {
    return std::make_unique<AnalyticalBackend>(routes);
  };
  ProgressLine progress;
  options.bus_bandwidths = inputs.bus_bandwidths;
  options.nccl = inputs.nccl;
  options.on_progress = [&](double fraction, TimePs simulated) {
    progress.Update(fraction, simulated);
  };
  absl::StatusOr<SimulationResult> result = std::visit(
      [&](const auto& workload) {
        return Simulate(workload, options, routes, new_network);
      },
      inputs.workload);
  if (result.status().code() == absl::StatusCode::kFailedPrecondition) {
    return absl::FailedPreconditionError(fmt::format(
        "{}: {}", topology_file, std::string(result.status().message())));
  }
  return result;
}

absl::Status Run(int argc, const char* const* argv, const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(
      const CommandLine flags,
      CommandLine::Parse(SimaiAnalyticalOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, "simai_analytical", SimaiAnalyticalHelp())) {
    return FlushStdout();
  }
  if (flags.has("columns")) {
    Print(DescribeColumns());
    return FlushStdout();
  }
  ASTRA_ASSIGN_OR_RETURN(const SimaiAnalyticalOptions options,
                         ReadSimaiAnalyticalOptions(flags));
  ASTRA_ASSIGN_OR_RETURN(const SimaiAnalyticalInputs inputs,
                         ReadInputs(options));
  log.Report(inputs.warnings);
  ASTRA_ASSIGN_OR_RETURN(OutputFolder folder,
                         OutputFolder::Create(options.output));
  ASTRA_ASSIGN_OR_RETURN(
      const SimulationResult result,
      RunOn(inputs, options.simulation, options.topology_file.value_or("-g")));
  ASTRA_RETURN_IF_ERROR(folder.Write({
      {"EndToEnd.csv", EndToEndCsv(options.name, result)},
      {"collectives.csv", CollectivesCsv(inputs.topology, result)},
      {"links.csv", LinksCsv(inputs.topology, result)},
      {"run.json", RunJson(options, inputs, result)},
  }));
  Print(std::visit(
      [&](const auto& workload) {
        return DescribeRun(workload, inputs.topology, result);
      },
      inputs.workload));
  Print(DescribeTime(inputs.topology, result));
  Print(fmt::format(
      "results    {}: EndToEnd.csv collectives.csv links.csv run.json\n"
      "finished   {}: {:.6f} ms\n",
      options.output, options.name, ToMicroseconds(result.total()) * 1e-3));
  return FlushStdout();
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_analytical");
  return astra::ExitCode(astra::Run(argc, argv, log), log);
}
