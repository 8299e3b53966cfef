// The parts of a packet network, for what looks at all of them.

#ifndef NETWORK_FRONTENDS_PACKET_NETWORK_PARTS_H_
#define NETWORK_FRONTENDS_PACKET_NETWORK_PARTS_H_

#include "network-frontends/packet/queue_pair.h"

namespace astra {

struct PacketSetup;
class Connections;
class Departures;
class Deliveries;
class Islands;
class Nics;
class PacketEvents;
class Paths;
class Ports;
class Records;
class Senders;
class SwitchBuffers;
class TelemetrySlots;

struct NetworkParts {
  const PacketSetup& setup;
  PacketEvents& events;
  Ports& ports;
  SwitchBuffers& buffers;
  Records& records;
  Paths& paths;
  Nics& nics;
  Connections& connections;
  Deliveries& deliveries;
  Senders& senders;
  QueuePairPool& queue_pairs;
  MessagePool& messages;
  TelemetrySlots& telemetry;
  Departures& departures;
  Islands& islands;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_NETWORK_PARTS_H_
