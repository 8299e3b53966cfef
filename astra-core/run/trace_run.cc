#include "astra-core/run/trace_run.h"

#include <utility>

#include "astra-core/base/status_macros.h"
#include "astra-core/run/pace_network.h"
#include "astra-core/run/run_network.h"
#include "astra-core/traces/trace_simulation.h"
#include "topology/routes.h"

namespace astra {
namespace {

absl::StatusOr<RunResult> RunOnce(const TraceRunRequest& request,
                                  const RunEvents& events,
                                  SimulationOptions options) {
  Routes routes(request.topology);
  RunResult run;
  LongestNetwork longest(run.network, run.network_time);
  options.speed_changes = events.speeds;
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
      request.trace, options, routes,
      NetworkFactoryOf(request.fidelity, WithEvents(request.network, events),
                       routes),
      &partial);
  ASTRA_RETURN_IF_ERROR(
      TakeOutcome(std::move(result), std::move(partial), run));
  return run;
}

}  // namespace

// With events the trace is run again without them, which is half of the work.
absl::StatusOr<RunResult> RunTrace(const TraceRunRequest& request) {
  if (request.events.empty()) {
    return RunOnce(request, request.events, request.simulation);
  }
  SimulationOptions options = request.simulation;
  double done = 0;
  if (options.on_progress) {
    options.on_progress = [&](double share, TimePs simulated) {
      return request.simulation.on_progress(done + share / 2, simulated);
    };
  }
  ASTRA_ASSIGN_OR_RETURN(RunResult run,
                         RunOnce(request, request.events, options));
  if (!run.status.ok()) return run;
  done = 0.5;
  options.message_log = nullptr;
  options.on_collective = nullptr;
  ASTRA_ASSIGN_OR_RETURN(RunResult healthy,
                         RunOnce(request, RunEvents(), options));
  ASTRA_RETURN_IF_ERROR(healthy.status);
  run.healthy = std::move(healthy.result);
  return run;
}

}  // namespace astra
