// Sets what the messages of NCCL's collectives cost, so that a collective that
// runs alone takes the time of its closed form.
//
// Both have the same parts: latencies, bytes over the rates of links, and what
// pipelines lose until they are full. The closed form adds them up, and its
// constants were fitted to measurements so. Messages overlap some of them: a
// ring hides latencies behind bytes, and a tree fills chunk by chunk. So the
// parts are scaled for messages, by one factor for each collective and size:
// the bytes on the wire where these are most of the time, and else the latency
// of a hop. What several collectives do to one another is left to the network.

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

// Returns a network at time 0 for a collective that runs alone. Where messages
// have a choice of paths it must not leave them to chance, since the closed
// form does not either: what collisions cost would be taken back otherwise.
using PaceNetwork =
    std::function<std::unique_ptr<NetworkBackend>(bool has_one_path)>;

// Graphs of more flows are not run. A run of so many takes about a second. The
// steps of a ring overlap, so the shorter of its two parts is hidden behind the
// longer one, which is scaled to the sum of both. Other algorithms take the
// parts as they are.
inline constexpr uint64_t kMaxPacedFlows = 1'000'000;

// Returns `nccl` with its parts scaled, so that `placed` takes nccl.time_us to
// within half a percent, if the parts allow it. The costs of `placed` are not
// read.
//
// Errors: those of RunFlowGraph.
absl::StatusOr<NcclMessages> Paced(const NcclMessages& nccl,
                                   const PlacedFlowGraph& placed,
                                   const PaceNetwork& new_network);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_MESSAGE_PACE_H_
