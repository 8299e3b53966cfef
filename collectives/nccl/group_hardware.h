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

// Returns the hardware of the group of `ranks`. Rates are those of the links of
// `topology`, the slowest of any rank or server. `system` gives their kind and
// NCCL's own figures for them. A rate below the data sheet's, as in SimAI's
// topologies, counts as the rate that is reached, since the shares of protocols
// are already subtracted. A GPU with several NICs counts as having one NIC of
// their combined rate, as network plug-ins present them. A NIC that GPUs of one
// server share is a switch to which only these GPUs are linked, so a group
// reaches only the NICs of its own GPUs.
//
// Where no switch joins the GPUs of a server, each has its own links to each of
// the others. A group of some of them has only the links between its ranks:
// two of four GPUs have a third (GroupHardware::link_share). NCCL sends nothing
// by way of a GPU that is not in the group.
//
// Errors: FailedPrecondition if ranks of one server have no link within it, or
// the group spans servers and one of them has no NIC.
absl::StatusOr<GroupHardware> HardwareOf(absl::Span<const RankId> ranks,
                                         const SystemSpec& system,
                                         const Topology& topology);

}  // namespace astra

#endif  // COLLECTIVES_NCCL_GROUP_HARDWARE_H_
