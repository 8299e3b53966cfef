// Reads off the topology the hardware that NCCL finds around a group's ranks.

#ifndef COLLECTIVES_NCCL_GROUP_HARDWARE_H_
#define COLLECTIVES_NCCL_GROUP_HARDWARE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "collectives/nccl/channel_graph.h"
#include "collectives/systems/system_spec.h"
#include "topology/topology.h"

namespace astra {

// Returns the share of a GPU's links that `ranks_per_server` ranks of a server
// can use among themselves: all where there is a switch. NVLinks without one
// are split evenly over the other GPUs of the server, so two of four GPUs share
// a third of them.
double MeshShare(const SystemSpec& system, uint32_t ranks_per_server);

// Returns the hardware of the group of `ranks`. Rates are those of the links of
// `topology`, the slowest of any rank or server. `system` gives their kind and
// NCCL's own figures for them. A rate below the data sheet's, as in SimAI's
// topologies, counts as the rate that is reached, since the shares of protocols
// are already subtracted. Of links without a switch, only those to ranks of the
// group count. A GPU with several NICs counts as having one NIC of
// their combined rate, as network plug-ins present them. A NIC that GPUs of one
// server share is a switch to which only these GPUs are linked.
//
// Errors: FailedPrecondition if ranks of one server have no link within it, or
// the group spans servers and one of them has no NIC.
absl::StatusOr<GroupHardware> HardwareOf(absl::Span<const RankId> ranks,
                                         const SystemSpec& system,
                                         const Topology& topology);

}  // namespace astra

#endif  // COLLECTIVES_NCCL_GROUP_HARDWARE_H_
