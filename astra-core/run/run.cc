#include "astra-core/run/run.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "astra-core/base/status_macros.h"
#include "astra-core/engine/simulation.h"
#include "astra-core/run/pace_network.h"
#include "astra-core/run/run_network.h"
#include "network-frontends/network_backend.h"
#include "topology/routes.h"

namespace astra {
namespace {

NetworkFactory FactoryOf(const RunRequest& request, Routes& routes) {
  NetworkOptions options = WithEvents(request.network, request.events);
  if (request.simulation.symmetric) {
    // Nobody sees the networks on which symmetric collectives run.
    options.packet.record = {};
    options.flow.record = {};
  }
  return NetworkFactoryOf(request.fidelity, std::move(options), routes);
}

absl::StatusOr<RunResult> RunOnce(const RunRequest& request) {
  Routes routes(request.topology);
  RunResult run;
  LongestNetwork longest(run.network, run.network_time);
  SimulationOptions options = request.simulation;
  options.speed_changes = request.events.speeds;
  if (request.explain || request.trace) {
    KeepTimeline(request.program, request.trace, options);
  }
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
  absl::StatusOr<SimulationResult> result = Simulate(
      request.program, options, routes, FactoryOf(request, routes), &partial);
  ASTRA_RETURN_IF_ERROR(
      TakeOutcome(std::move(result), std::move(partial), run));
  if (run.status.ok() && request.explain) {
    ASTRA_ASSIGN_OR_RETURN(
        run.explanation, Explain(request.program, options, routes, run.result));
  }
  return run;
}

// The part of `request` that remains without its events: the times alone.
RunRequest WithoutEvents(const RunRequest& request) {
  RunRequest healthy = request;
  healthy.events = {};
  healthy.trace = false;
  healthy.explain = false;
  healthy.simulation.message_log = nullptr;
  healthy.simulation.on_collective = nullptr;
  return healthy;
}

// Runs `request` with its events and then without. Each is half of the work.
absl::StatusOr<RunResult> RunTwice(const RunRequest& request) {
  RunRequest half = request;
  double done = 0;
  if (request.simulation.on_progress) {
    half.simulation.on_progress = [&](RunProgress progress) {
      progress.share = done + progress.share / 2;
      return request.simulation.on_progress(progress);
    };
  }
  ASTRA_ASSIGN_OR_RETURN(RunResult run, RunOnce(half));
  if (!run.status.ok()) return run;
  done = 0.5;
  ASTRA_ASSIGN_OR_RETURN(RunResult healthy, RunOnce(WithoutEvents(half)));
  ASTRA_RETURN_IF_ERROR(healthy.status);
  run.healthy = std::move(healthy.result);
  return run;
}

}  // namespace

absl::Status TakeOutcome(absl::StatusOr<SimulationResult> result,
                         SimulationResult partial, RunResult& run) {
  const absl::StatusCode code = result.status().code();
  const bool is_unfinished =
      code == absl::StatusCode::kAborted || code == absl::StatusCode::kInternal;
  if (!result.ok() && !is_unfinished) return result.status();
  run.status = result.status();
  run.result = result.ok() ? *std::move(result) : std::move(partial);
  // The clock of a network in which nothing happens any more went on.
  if (!run.status.ok()) {
    run.network_time = std::min(run.network_time, run.result.stage_time);
  }
  return absl::OkStatus();
}

NetworkOptions WithEvents(NetworkOptions network, const RunEvents& events) {
  for (std::vector<LinkEvent>* links :
       {&network.packet.link_events, &network.flow.link_events}) {
    links->insert(links->end(), events.links.begin(), events.links.end());
  }
  for (TimePs* delay :
       {&network.packet.reroute_delay, &network.flow.reroute_delay}) {
    if (!events.links.empty()) *delay = events.reroute_delay;
  }
  return network;
}

absl::StatusOr<RunResult> Run(const RunRequest& request) {
  return request.events.empty() ? RunOnce(request) : RunTwice(request);
}

}  // namespace astra
