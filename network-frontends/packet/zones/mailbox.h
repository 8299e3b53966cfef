// What one zone tells another at the end of a window.

#ifndef NETWORK_FRONTENDS_PACKET_ZONES_MAILBOX_H_
#define NETWORK_FRONTENDS_PACKET_ZONES_MAILBOX_H_

#include <cstdint>
#include <vector>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/packet/port.h"
#include "network-frontends/packet/telemetry.h"
#include "network-frontends/zoned_network.h"

namespace astra {

// A queue pair has a number in the zone of its sender, its home. Other zones
// that its packets pass know it by home and number.
struct QueuePairName {
  ZoneId home;
  QueuePairId id;  // In the home zone.
};

struct Mailbox {
  // A queue pair that was opened, whose packets may come to the zone.
  struct Opened {
    QueuePairName name;
    NodeId source;
    NodeId target;
    uint32_t channel = 0;
    uint64_t key = 0;  // QueuePair::key.
  };
  // A message to a node of the zone.
  struct Sent {
    QueuePairName queue_pair;
    Message message;
  };
  // A packet that is on a link to a node of the zone. It reaches the node at
  // `packet.time`. The packet has the number of its queue pair in the home
  // zone; its telemetry is an index into `telemetry`.
  struct Crossing {
    Packet packet;
    LinkId link;
    ZoneId home;
    TrafficClass traffic_class = TrafficClass::kData;
  };

  bool empty() const {
    return opened.empty() && sent.empty() && crossings.empty();
  }
  // Forgets everything and keeps the memory.
  void Clear() {
    opened.clear();
    sent.clear();
    crossings.clear();
    telemetry.clear();
  }

  std::vector<Opened> opened;
  std::vector<Sent> sent;           // Those of a queue pair in order.
  std::vector<Crossing> crossings;  // Those of a link in order.
  std::vector<TelemetrySlot> telemetry;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_ZONES_MAILBOX_H_
