// Latency of what NCCL makes of sends and receives.

#ifndef COLLECTIVES_NCCL_POINT_TO_POINT_H_
#define COLLECTIVES_NCCL_POINT_TO_POINT_H_

#include "astra-core/base/collective_kind.h"
#include "collectives/nccl/group_hardware.h"
#include "collectives/nccl/tuning.h"
#include "collectives/systems/system_spec.h"

namespace astra {

// Returns the latency of one message, and of posting the messages to ranks of
// other servers. `latency` is that of a group of one server.
LatencyParts PointToPointParts(CollectiveKind kind,
                               const GroupHardware& hardware,
                               const ProtocolLatency& latency);

// Returns the sum of the parts that the group has, with `extra` for the links
// of a topology.
double PointToPointUs(const LatencyParts& parts, const GroupHardware& hardware,
                      const HopExtra& extra);

}  // namespace astra

#endif  // COLLECTIVES_NCCL_POINT_TO_POINT_H_
