#include "astra-core/run/run.h"

#include <memory>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "astra-core/engine/simulation.h"
#include "astra-core/run/pace_network.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "network-frontends/network_backend.h"
#include "topology/routes.h"

namespace astra {
namespace {

bool IsUnfinished(const absl::Status& status) {
  return status.code() == absl::StatusCode::kAborted ||
         status.code() == absl::StatusCode::kInternal;
}

// Keeps the statistics of the network that was simulated longest.
class LongestNetwork {
 public:
  explicit LongestNetwork(RunResult& run) : run_(run) {}

  void See(NetworkBackend& network) {
    if (has_any_ && network.now() <= run_.network_time) return;
    has_any_ = true;
    run_.network_time = network.now();
    run_.network = network.statistics();
  }

 private:
  RunResult& run_;
  bool has_any_ = false;
};

// The closed form sends nothing. Its network is the clock of the engine.
NetworkFactory FactoryOf(const RunRequest& request, Routes& routes) {
  const BackendEntry* network = NetworkOf(request.fidelity);
  if (network == nullptr) {
    return [&routes] { return std::make_unique<AnalyticalBackend>(routes); };
  }
  NetworkOptions options = request.network;
  if (request.simulation.symmetric) {
    // Nobody sees the networks on which symmetric collectives run.
    options.packet.record = {};
    options.flow.record = {};
  }
  return [options = std::move(options), &routes, network] {
    return network->make(options, routes);
  };
}

}  // namespace

absl::StatusOr<RunResult> Run(const RunRequest& request) {
  Routes routes(request.topology);
  RunResult run;
  LongestNetwork longest(run);
  SimulationOptions options = request.simulation;
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
  if (!result.ok() && !IsUnfinished(result.status())) return result.status();
  run.status = result.status();
  run.result = result.ok() ? *std::move(result) : std::move(partial);
  if (run.status.ok() && request.explain) {
    ASTRA_ASSIGN_OR_RETURN(
        run.explanation, Explain(request.program, options, routes, run.result));
  }
  return run;
}

}  // namespace astra
