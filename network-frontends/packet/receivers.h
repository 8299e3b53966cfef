// Queue pairs as receivers: data that arrives, and acknowledgements of it.

#ifndef NETWORK_FRONTENDS_PACKET_RECEIVERS_H_
#define NETWORK_FRONTENDS_PACKET_RECEIVERS_H_

#include "astra-core/base/ids.h"
#include "network-frontends/packet/connections.h"
#include "network-frontends/packet/deliveries.h"
#include "network-frontends/packet/departures.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/packet/packet_events.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/paths.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/queue_pair.h"
#include "network-frontends/packet/telemetry.h"

namespace astra {

class Receivers {
 public:
  // All arguments must outlive the receivers.
  Receivers(const PacketSetup& setup, const PacketEvents& events,
            const Ports& ports, const Paths& paths, TelemetrySlots& telemetry,
            QueuePairPool& queue_pairs, const MessagePool& messages,
            Connections& connections, Deliveries& deliveries,
            Departures& departures);

  // Handles a data packet that is at its target.
  void OnData(Packet& packet);

 private:
  void OnDataInOrder(QueuePairId id, Packet& packet);
  void OnDataInAnyOrder(QueuePairId id, Packet& packet);
  bool DeliverMessages(QueuePairId id);
  void Reply(QueuePairId id, PacketKind kind, Packet& to);

  const PacketSetup& setup_;
  const PacketEvents& events_;
  const Ports& ports_;
  const Paths& paths_;
  TelemetrySlots& telemetry_;
  QueuePairPool& queue_pairs_;
  const MessagePool& messages_;
  Connections& connections_;
  Deliveries& deliveries_;
  Departures& departures_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_RECEIVERS_H_
