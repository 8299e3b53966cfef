// What NCCL's search finds around the ranks of a group, read off the topology.

#ifndef COLLECTIVES_NCCL_GROUP_HARDWARE_H_
#define COLLECTIVES_NCCL_GROUP_HARDWARE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "collectives/nccl/channel_graph.h"
#include "collectives/systems/system_spec.h"
#include "topology/topology.h"

namespace astra {

// The hardware of the group of `ranks`. Rates are those of the links of
// `topology`, the slowest of any rank or server; `system` says of what kind
// they are, and how NCCL reckons with them. A rate below that of the data
// sheet, as SimAI's topologies have, is taken as what is reached, since
// protocols have taken their share already. A GPU with several NICs counts as
// having one of their rates together, as network plug-ins present them; a NIC
// that GPUs of one server share is a switch that only they are linked to.
//
// Errors: FailedPrecondition if ranks of one server have no link within it, or
// the group spans servers and one of them has no NIC.
absl::StatusOr<GroupHardware> HardwareOf(absl::Span<const RankId> ranks,
                                         const SystemSpec& system,
                                         const Topology& topology);

}  // namespace astra

#endif  // COLLECTIVES_NCCL_GROUP_HARDWARE_H_
