// simai_analytical: how long one iteration takes on a cluster, and why.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "astra-core/apps/explanation.h"
#include "astra-core/apps/iteration_trace.h"
#include "astra-core/apps/run_json.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/apps/run_watch.h"
#include "astra-core/apps/simai_analytical_inputs.h"
#include "astra-core/apps/simai_analytical_options.h"
#include "astra-core/apps/time_chart.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/command_line/version.h"
#include "astra-core/engine/report.h"
#include "astra-core/engine/simulation.h"
#include "astra-core/engine/summary.h"
#include "fmt/core.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "topology/routes.h"

namespace astra {
namespace {

// A result and, of programs, why it is so.
struct AnalyticalRun {
  SimulationResult result;
  std::optional<Explanation> explanation;
};

absl::StatusOr<AnalyticalRun> RunOn(const SimaiAnalyticalInputs& inputs,
                                    SimulationOptions options, bool trace,
                                    const std::string& topology_file) {
  Routes routes(inputs.topology);
  KeepTimeline(inputs.program, trace, options);
  const NetworkFactory new_network = [&] {
    return std::make_unique<AnalyticalBackend>(routes);
  };
  RunWatch watch;
  options.bus_bandwidths = inputs.bus_bandwidths;
  options.nccl = inputs.nccl;
  options.on_progress = [&](double fraction, TimePs simulated) {
    return watch.Update(fraction, simulated);
  };
  absl::StatusOr<SimulationResult> result =
      Simulate(inputs.program, options, routes, new_network);
  if (result.status().code() == absl::StatusCode::kFailedPrecondition) {
    return absl::FailedPreconditionError(fmt::format(
        "{}: {}", topology_file, std::string(result.status().message())));
  }
  ASTRA_RETURN_IF_ERROR(result.status());
  ASTRA_ASSIGN_OR_RETURN(std::optional<Explanation> explanation,
                         Explain(inputs.program, options, routes, *result));
  return AnalyticalRun{*std::move(result), std::move(explanation)};
}

std::vector<NamedFile> ResultFiles(const SimaiAnalyticalOptions& options,
                                   const SimaiAnalyticalInputs& inputs,
                                   const AnalyticalRun& run) {
  const auto& [result, explanation] = run;
  // Not as one list, whose strings would be copied: links.csv is large.
  std::vector<NamedFile> files;
  files.push_back({"EndToEnd.csv", EndToEndCsv(options.name, result)});
  files.push_back({"collectives.csv", CollectivesCsv(inputs.topology, result)});
  files.push_back({"links.csv", LinksCsv(inputs.topology, result)});
  files.push_back({"run.json", RunJson(options, inputs, result, explanation)});
  if (explanation) {
    for (NamedFile& file :
         ExplanationFiles(inputs.program, *explanation, result)) {
      files.push_back(std::move(file));
    }
  }
  if (options.chart) {
    files.push_back(
        {"chart.html", TimeChart(options.name, result, options.language)});
  }
  if (options.trace && !result.timeline.empty()) {
    files.push_back({"trace.json", IterationTrace(result)});
  }
  return files;
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
  ASTRA_ASSIGN_OR_RETURN(const AnalyticalRun run,
                         RunOn(inputs, options.simulation, options.trace,
                               options.topology_file.value_or("-g")));
  const SimulationResult& result = run.result;
  const std::vector<NamedFile> files = ResultFiles(options, inputs, run);
  ASTRA_RETURN_IF_ERROR(folder.Write(files, kResultFiles));
  Print(DescribeRun(inputs.program, inputs.topology, result));
  Print(
      DescribeTimeOf(inputs.program, inputs.topology, result, run.explanation));
  if (options.trace) Print(DescribeSkipped(result));
  std::string names;
  for (const NamedFile& file : files) names += " " + file.name;
  Print(fmt::format("results    {}:{}\nfinished   {}: {:.6f} ms\n",
                    options.output, names, options.name,
                    ToMicroseconds(result.total()) * 1e-3));
  return FlushStdout();
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_analytical");
  return astra::WithinMemory(
      log, [&] { return astra::ExitCode(astra::Run(argc, argv, log), log); });
}
