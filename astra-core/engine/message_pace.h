// Scales the costs of the messages of NCCL's collectives, so that a collective
// that runs alone takes the time of its closed form.
//
// Closed form and messages have the same parts: latencies, bytes over the rates
// of links, and the time that pipelines lose until they are full. The closed
// form adds the parts up, and its constants were fitted to measurements of the
// sum. Messages overlap some parts: a ring hides latencies behind bytes, and a
// tree fills chunk by chunk. So the parts are scaled for messages, by one
// factor for each collective and size: the bytes on the wire where they are
// most of the time, otherwise the latency of a hop; or the other of the two,
// where that one cannot make up for it. The network decides how several
// collectives slow one another.

#ifndef ASTRA_CORE_ENGINE_MESSAGE_PACE_H_
#define ASTRA_CORE_ENGINE_MESSAGE_PACE_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "astra-core/engine/flow_run.h"
#include "collectives/nccl/collective_time.h"
#include "network-frontends/network_backend.h"

namespace astra {

// The networks on which collectives run alone to find their factors.
struct PaceNetwork {
  // Returns a network at time 0; none: collectives are not scaled. Where
  // messages have several paths, the network must not choose one by chance: the
  // closed form assumes no collisions, so scaling would cancel their cost.
  std::function<std::unique_ptr<NetworkBackend>(bool has_one_path)> make;
  // Whether the run shares links that the network for several paths does not,
  // such as the port of a receiver. What they take is no reason to scale: the
  // factor only makes up for parts that overlap.
  bool run_shares_more = false;
};

// The largest number of flows of a graph that is run to find its factor; a run
// of so many takes about a second. For larger graphs, rings scale the longer of
// the two parts to the sum of both, because the steps of a ring overlap and
// hide the shorter part. Other algorithms keep the parts unscaled.
inline constexpr uint64_t kMaxPacedFlows = 1'000'000;

// Returns `nccl` with its parts scaled, so that `placed` takes nccl.time_us to
// within half a percent, if scaling can achieve that. Ignores placed.costs.
//
// Errors: those of RunFlowGraph.
absl::StatusOr<NcclMessages> Paced(const NcclMessages& nccl,
                                   const PlacedFlowGraph& placed,
                                   const PaceNetwork& new_network);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_MESSAGE_PACE_H_
