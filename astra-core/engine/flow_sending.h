// Sends the flows of a collective that may leave.

#ifndef ASTRA_CORE_ENGINE_FLOW_SENDING_H_
#define ASTRA_CORE_ENGINE_FLOW_SENDING_H_

#include <cstdint>

#include "absl/types/span.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/engine/flow_carrier.h"
#include "network-frontends/replay_support.h"

namespace astra {

// Messages of one communicator use channels from this times its index on, so
// that those of different communicators share no queue pair. Channels beyond
// these would share those of lower ones.
inline constexpr uint32_t kChannelsPerCommunicator = 4096;

// Returns the connection of a flow of a collective of `communicator`.
Connection ConnectionOf(const Flow& flow, const CollectiveMessages& messages,
                        uint32_t communicator);

// Gives `flows` of `of.communicator`'s collective number `of.number` to the
// carrier. Requires a graph.
void SendFlows(absl::Span<const FlowId> flows, const CarriedFlow& of,
               const CollectiveMessages& messages, FlowCarrier& carrier);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_FLOW_SENDING_H_
