#include "astra-core/traces/trace_simulation.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/engine_run.h"
#include "astra-core/engine/iteration_pipeline.h"
#include "astra-core/traces/trace_communicators.h"
#include "astra-core/traces/trace_program.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status CheckOptions(const ExecutionTrace& trace,
                          const SimulationOptions& options,
                          const Topology& topology) {
  if (trace.ranks.size() != topology.num_gpus()) {
    return absl::InvalidArgumentError(
        fmt::format("the trace is of {} ranks, the topology has {} GPUs",
                    trace.ranks.size(), topology.num_gpus()));
  }
  if (options.symmetric) {
    return absl::InvalidArgumentError(
        "--symmetry has no effect on a trace: its ranks differ");
  }
  return CheckCollectiveOptions(options, /*has_pipeline_formula=*/false);
}

// In the timeline each rank was a stage; of a trace none is known.
void ForgetStages(SimulationResult& result) {
  for (RankResult& rank : result.ranks) rank.stage = 0;
}

absl::StatusOr<SimulationResult> SimulateOnce(const ExecutionTrace& trace,
                                              const SimulationOptions& options,
                                              Routes& routes,
                                              const NetworkFactory& new_network,
                                              SimulationResult* partial) {
  const TraceLanes lanes = LanesOf(trace);
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveCosts costs,
      FindTraceCosts(trace, lanes, CostSettingOf(options), routes));
  EngineSetting setting = MakeEngineSetting(
      options, routes, new_network,
      std::make_shared<const CollectiveCosts>(std::move(costs)),
      FormTraceCommunicators(trace, lanes, routes.topology()), trace.names);
  if (!setting.options.communication_slowdown) {
    setting.options.communication_slowdown = trace.communication_slowdown;
  }
  setting.lone = LoneCollectivesOf(setting);
  const TraceProgram program(trace, lanes);
  EngineRun run(program, setting, setting.options);
  ASTRA_RETURN_IF_ERROR(run.ToTheEnd(partial));
  ASTRA_ASSIGN_OR_RETURN(SimulationResult result,
                         run.TakeResult(StandIn(), partial));
  result.link_bytes = run.link_bytes();
  result.link_bytes.resize(routes.topology().links().size());
  MoveMessageWaits(result);
  result.layer_names = trace.names;
  result.costs = setting.costs;
  return result;
}

}  // namespace

absl::StatusOr<SimulationResult> SimulateTrace(
    const ExecutionTrace& trace, const SimulationOptions& options,
    Routes& routes, const NetworkFactory& new_network,
    SimulationResult* partial) {
  ASTRA_RETURN_IF_ERROR(CheckOptions(trace, options, routes.topology()));
  absl::StatusOr<SimulationResult> result =
      SimulateOnce(trace, options, routes, new_network, partial);
  if (absl::IsUnavailable(result.status())) {
    SimulationOptions in_full = options;
    in_full.acceleration = Acceleration::kOff;
    result = SimulateOnce(trace, in_full, routes, new_network, partial);
  }
  if (partial != nullptr) ForgetStages(*partial);
  if (result.ok()) ForgetStages(*result);
  return result;
}

}  // namespace astra
