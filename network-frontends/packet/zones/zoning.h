// Decides which nodes of a cluster form a zone of the packet network.
//
// Nodes that are joined by links of little delay, such as the GPUs and the
// NVSwitch of a server, stay together: they form a cluster of nodes. There are
// as many zones as clusters allow of which none has too large a share of the
// links. The delay from which links may be cut is that for which the number of
// zones times the delay is largest. Clusters that look alike are dealt out in
// equal shares, those next to one another to the same zone.

#ifndef NETWORK_FRONTENDS_PACKET_ZONES_ZONING_H_
#define NETWORK_FRONTENDS_PACKET_ZONES_ZONING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/zoned_network.h"

namespace astra {

struct Zoning {
  uint32_t num_zones = 0;       // At least 2.
  std::vector<ZoneId> zone_of;  // Zone of each node.
  TimePs lookahead;             // Least delay of a link between zones.
};

// Returns `num_zones` zones, or fewer where the cluster has no more nodes that
// can be kept apart.
//
// Errors: FailedPrecondition with the reason, if there are no two zones, or if
// what happens in one zone may depend at once on another: packets that may be
// lost or choose their way, queue pairs for each message, acknowledgements of
// several packets, messages that arrive when they are acknowledged, background
// traffic, link events, records of what happens, and draws by the number of a
// queue pair, which differs by zone.
absl::StatusOr<Zoning> FindZones(const PacketSetup& setup, uint32_t num_zones);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_ZONES_ZONING_H_
