// Runs one iteration on a cluster.
//
// All ranks go through the same operations: those of a workload's layers, see
// layer_program.h, or those of one stage of a program, see stage_program.h.
// Collectives of one group run one after the other, in the order of the
// program; those of different dimensions overlap, and both overlap with
// computation unless the program waits. What a collective costs is either a
// closed form or what its messages take on a network backend.

#ifndef ASTRA_CORE_ENGINE_SIMULATION_H_
#define ASTRA_CORE_ENGINE_SIMULATION_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/running_collectives.h"
#include "collectives/bus_bandwidth_file.h"
#include "network-frontends/network_backend.h"
#include "topology/routes.h"
#include "workload/program.h"
#include "workload/workload.h"

namespace astra {

struct SimulationOptions {
  Lowering lowering = Lowering::kClosedForm;

  // By dimension, 0 to 1: the share of each collective that costs its ranks
  // nothing. Closed forms only.
  std::array<double, kNumParallelDimensions> overlap{};

  // Closed forms only.
  BusBandwidths bus_bandwidths;

  // Closed forms only: collectives take the time that NCCL's choices take on
  // this system. None: rings and direct messages on the links, without anything
  // that software adds.
  std::optional<NcclSystem> nccl;

  // The run ends with an error once it would go beyond.
  TimePs stop_at = kMaxCollectiveTime;

  // Runs every micro-batch of a program, for comparison: the result is the
  // same.
  bool unroll = false;

  // Called now and then with the share of the work that is done, 0 to 1, and
  // the simulated time.
  std::function<void(double, TimePs)> on_progress;
};

// Returns a network at time 0.
using NetworkFactory = std::function<std::unique_ptr<NetworkBackend>()>;

// Runs `workload` on the topology of `routes`, over a network of that topology.
//
// Errors: InvalidArgument if the workload is for another number of GPUs, or an
// option has no effect with the lowering; FailedPrecondition if ranks cannot
// reach one another; ResourceExhausted if a flow graph is too large; Aborted at
// `stop_at`; Internal, with who waits for what, if the network falls silent.
absl::StatusOr<SimulationResult> Simulate(const Workload& workload,
                                          const SimulationOptions& options,
                                          Routes& routes,
                                          const NetworkFactory& new_network);

// Runs each entry of the program's stages by itself, as if all ranks ran it.
// The result is that of the one that takes longest, the first of equals, with
// the bubble that the others leave in it; `link_bytes` are its own.
//
// Of micro-batches that are alike, few are run. If two in a row went alike on
// all ranks, so would those that follow, and they are counted; else more are
// run. Errors: as above.
absl::StatusOr<SimulationResult> Simulate(const Program& program,
                                          const SimulationOptions& options,
                                          Routes& routes,
                                          const NetworkFactory& new_network);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_SIMULATION_H_
