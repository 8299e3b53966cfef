#include "astra-core/run/trace_run.h"

#include <memory>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "astra-core/run/pace_network.h"
#include "astra-core/run/run_network.h"
#include "astra-core/traces/trace_simulation.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "topology/routes.h"

namespace astra {
namespace {

absl::StatusOr<Explanation> ExplainTrace(const TraceRunRequest& request,
                                         const SimulationResult& result,
                                         Routes& routes) {
  Explanation explanation;
  explanation.path = CriticalPath(result);
  SimulationOptions same_costs = request.simulation;
  same_costs.costs = result.costs;
  ASTRA_ASSIGN_OR_RETURN(
      explanation.bounds,
      TraceBounds(request.trace, request.lanes, same_costs, routes,
                  [&] { return std::make_unique<AnalyticalBackend>(routes); }));
  return explanation;
}

absl::StatusOr<RunResult> RunOnce(const TraceRunRequest& request,
                                  const RunEvents& events,
                                  SimulationOptions options, bool explains) {
  Routes routes(request.topology);
  RunResult run;
  LongestNetwork longest(run.network, run.network_time);
  options.speed_changes = events.speeds;
  if (explains) KeepTimeline(request.keeps_trace, options);
  options.lowering = Lowering::kClosedForm;
  if (request.fidelity != Fidelity::kClosedForm) {
    options.lowering = Lowering::kFlowGraph;
    options.on_network_end = [&](NetworkBackend& network) {
      longest.See(network);
    };
    options.pace_network =
        PaceNetworkOf(request.fidelity, request.network, routes);
  }
  SimulationResult partial;
  absl::StatusOr<SimulationResult> result = SimulateTrace(
      request.trace, request.lanes, options, routes,
      NetworkFactoryOf(request.fidelity, WithEvents(request.network, events),
                       routes),
      &partial);
  ASTRA_RETURN_IF_ERROR(
      TakeOutcome(std::move(result), std::move(partial), run));
  if (run.status.ok() && explains) {
    ASTRA_ASSIGN_OR_RETURN(run.explanation,
                           ExplainTrace(request, run.result, routes));
  }
  return run;
}

}  // namespace

// With events the trace is run again without them, which is half of the work.
absl::StatusOr<RunResult> RunTrace(const TraceRunRequest& request) {
  if (request.events.empty()) {
    return RunOnce(request, request.events, request.simulation,
                   /*explains=*/true);
  }
  SimulationOptions options = request.simulation;
  double done = 0;
  if (options.on_progress) {
    options.on_progress = [&](RunProgress progress) {
      progress.share = done + progress.share / 2;
      return request.simulation.on_progress(progress);
    };
  }
  ASTRA_ASSIGN_OR_RETURN(RunResult run, RunOnce(request, request.events,
                                                options, /*explains=*/true));
  if (!run.status.ok()) return run;
  done = 0.5;
  options.message_log = nullptr;
  options.on_collective = nullptr;
  ASTRA_ASSIGN_OR_RETURN(
      RunResult healthy,
      RunOnce(request, RunEvents(), options, /*explains=*/false));
  ASTRA_RETURN_IF_ERROR(healthy.status);
  run.healthy = std::move(healthy.result);
  return run;
}

}  // namespace astra
