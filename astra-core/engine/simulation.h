// Runs one iteration of a workload on a cluster.
//
// All ranks go through the workload's layers; see layer_program.h. Collectives
// of one group run one after the other, in the order of the program; those of
// different dimensions overlap, and both overlap with computation unless the
// program waits. What a collective costs is either a closed form or what its
// messages take on a network backend.

#ifndef ASTRA_CORE_ENGINE_SIMULATION_H_
#define ASTRA_CORE_ENGINE_SIMULATION_H_

#include <array>
#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/running_collectives.h"
#include "collectives/bus_bandwidth_file.h"
#include "network-frontends/network_backend.h"
#include "topology/routes.h"
#include "workload/workload.h"

namespace astra {

struct SimulationOptions {
  Lowering lowering = Lowering::kClosedForm;

  // By dimension, 0 to 1: the share of each collective that costs its ranks
  // nothing. Closed forms only.
  std::array<double, kNumParallelDimensions> overlap{};

  // Closed forms only.
  BusBandwidths bus_bandwidths;

  // The run ends with an error once it would go beyond.
  TimePs stop_at = kMaxCollectiveTime;

  // Called now and then with the share of the work that is done, 0 to 1, and
  // the simulated time.
  std::function<void(double, TimePs)> on_progress;
};

// Runs `workload` on the topology of `routes`, over `network`, which stands at
// time 0 and is of that topology.
//
// Errors: InvalidArgument if the workload is for another number of GPUs, or an
// option has no effect with the lowering; FailedPrecondition if ranks cannot
// reach one another; ResourceExhausted if a flow graph is too large; Aborted at
// `stop_at`; Internal, with who waits for what, if the network falls silent.
absl::StatusOr<SimulationResult> Simulate(const Workload& workload,
                                          const SimulationOptions& options,
                                          Routes& routes,
                                          NetworkBackend& network);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_SIMULATION_H_
