#include "astra-core/traces/trace_simulation.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/engine_run.h"
#include "astra-core/engine/iteration_pipeline.h"
#include "astra-core/engine/simulation.h"
#include "astra-core/traces/trace_communicators.h"
#include "astra-core/traces/trace_link_bytes.h"
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

// In the engine each rank was a stage; of a trace none is known.
void ForgetStages(SimulationResult& result) {
  for (RankResult& rank : result.ranks) rank.stage = 0;
}

absl::StatusOr<EngineSetting> SettingOf(const ExecutionTrace& trace,
                                        const TraceLanes& lanes,
                                        const SimulationOptions& options,
                                        Routes& routes,
                                        const NetworkFactory& new_network) {
  std::shared_ptr<const CollectiveCosts> costs = options.costs;
  if (costs == nullptr) {
    ASTRA_ASSIGN_OR_RETURN(
        CollectiveCosts found,
        FindTraceCosts(trace, lanes, CostSettingOf(options), routes));
    costs = std::make_shared<const CollectiveCosts>(std::move(found));
  }
  EngineSetting setting = MakeEngineSetting(
      options, routes, new_network, std::move(costs),
      FormTraceCommunicators(trace, lanes, routes.topology()), trace.names);
  if (!setting.options.communication_slowdown) {
    setting.options.communication_slowdown = trace.communication_slowdown;
  }
  return setting;
}

absl::StatusOr<SimulationResult> SimulateOnce(const ExecutionTrace& trace,
                                              const TraceLanes& lanes,
                                              const SimulationOptions& options,
                                              Routes& routes,
                                              const NetworkFactory& new_network,
                                              SimulationResult* partial) {
  ASTRA_ASSIGN_OR_RETURN(EngineSetting setting,
                         SettingOf(trace, lanes, options, routes, new_network));
  setting.lone = LoneCollectivesOf(setting);
  const TraceProgram program(trace, lanes);
  EngineRun run(program, setting, setting.options);
  ASTRA_RETURN_IF_ERROR(run.ToTheEnd(partial));
  ASTRA_ASSIGN_OR_RETURN(SimulationResult result,
                         run.TakeResult(StandIn(), partial));
  result.link_bytes = run.link_bytes();
  if (setting.is_closed_form()) {
    ASTRA_ASSIGN_OR_RETURN(
        result.link_bytes,
        TraceLinkBytes(trace, lanes, *setting.costs, options.nccl, routes));
  }
  MoveMessageWaits(result);
  result.layer_names = trace.names;
  result.costs = setting.costs;
  return result;
}

}  // namespace

absl::StatusOr<SimulationResult> SimulateTrace(
    const ExecutionTrace& trace, const TraceLanes& lanes,
    const SimulationOptions& options, Routes& routes,
    const NetworkFactory& new_network, SimulationResult* partial) {
  ASTRA_RETURN_IF_ERROR(CheckOptions(trace, options, routes.topology()));
  absl::StatusOr<SimulationResult> result =
      AnewIfNeeded(options, [&](const SimulationOptions& these) {
        return SimulateOnce(trace, lanes, these, routes, new_network, partial);
      });
  if (partial != nullptr) ForgetStages(*partial);
  if (result.ok()) ForgetStages(*result);
  return result;
}

absl::StatusOr<Bounds> TraceBounds(const ExecutionTrace& trace,
                                   const TraceLanes& lanes,
                                   const SimulationOptions& options,
                                   Routes& routes,
                                   const NetworkFactory& new_network) {
  ASTRA_ASSIGN_OR_RETURN(
      EngineSetting setting,
      SettingOf(trace, lanes, BoundOptions(options), routes, new_network));
  const TraceProgram program(trace, lanes);
  Bounds bounds;
  for (const auto& [bound, is_network] :
       {std::pair(&bounds.ideal_network, true),
        std::pair(&bounds.ideal_compute, false)}) {
    setting.options.ideal_network = is_network;
    setting.options.ideal_compute = !is_network;
    EngineRun run(program, setting, setting.options);
    ASTRA_RETURN_IF_ERROR(run.ToTheEnd(nullptr));
    ASTRA_ASSIGN_OR_RETURN(const SimulationResult result,
                           run.TakeResult(StandIn(), nullptr));
    *bound = result.stage_time;
  }
  return bounds;
}

}  // namespace astra
