// The packet network: its parts, and the loop that hands each event to them.
// See packet_backend.h for the model.
//
// State that each event needs lies in flat arrays by index, each owned by one
// part. A packet goes from Senders to Departures, which decides when it leaves
// a port; Arrive() gives it to Forwarding at a switch, which puts it into the
// next port, and to Receivers at its target; the acknowledgement comes back to
// Senders the same way.
//
//   Ports, Lane        the links: rates, queues, packets on the wire
//   SwitchBuffers      memory of switches, pauses that it calls for
//   Nics               turns of the queue pairs of a port
//   Paths, Connections queue pairs: their links, opening and closing
//   Senders, Receivers the two ends of queue pairs
//   Departures         what leaves ports, and when
//   Forwarding         the next link at a switch, buffers, pauses
//   Deliveries         messages that have arrived
//   Faults             links that change
//   Islands            packets that are counted and not simulated
//   Records            statistics

#ifndef NETWORK_FRONTENDS_PACKET_PACKET_NETWORK_H_
#define NETWORK_FRONTENDS_PACKET_PACKET_NETWORK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/run_progress.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/packet/connections.h"
#include "network-frontends/packet/deliveries.h"
#include "network-frontends/packet/departures.h"
#include "network-frontends/packet/faults.h"
#include "network-frontends/packet/forwarding.h"
#include "network-frontends/packet/islands.h"
#include "network-frontends/packet/network_parts.h"
#include "network-frontends/packet/nics.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/packet/packet_events.h"
#include "network-frontends/packet/packet_options.h"
#include "network-frontends/packet/packet_replay.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/paths.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/prefetcher.h"
#include "network-frontends/packet/queue_pair.h"
#include "network-frontends/packet/receivers.h"
#include "network-frontends/packet/records.h"
#include "network-frontends/packet/senders.h"
#include "network-frontends/packet/switch_buffers.h"
#include "network-frontends/packet/telemetry.h"
#include "network-frontends/replay_support.h"
#include "topology/topology.h"

namespace astra {

class PacketNetwork {
 public:
  // `topology` must outlive the network. Requires CheckPacketOptions.
  PacketNetwork(const Topology& topology, const PacketOptions& options);
  PacketNetwork(const PacketNetwork&) = delete;
  PacketNetwork& operator=(const PacketNetwork&) = delete;

  // These functions implement NetworkBackend.
  TimePs now() const { return events_.now(); }
  void Send(const Message& message);
  // Sends a message whose target is in another part of the network, where it is
  // waited for.
  void SendAway(const Message& message);
  void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived);
  void Drain();
  void LogArrivals(const ArrivalLog& log) { records_.LogArrivals(log); }
  absl::Span<const double> link_bytes();
  WorkDone work() const { return records_.work(); }
  const NetworkStatistics& statistics();
  std::string WhyStuck() const { return connections_.WhyStuck(); }
  TimePs last_give_up() const { return senders_.last_give_up(); }
  NetworkParts parts();
  PacketReplay* replay() { return replay_ ? &*replay_ : nullptr; }

 private:
  void Enqueue(const Message& message, const MessageState& state);
  void Handle(const Agenda::Entry& event);
  void HandleOther(uint32_t key);
  void OnLink(LinkId link);
  void Arrive(LinkId link, Packet& packet);
  void GoOn(LinkId link, LinkId next, Packet& packet);
  void FindWay(LinkId link, Packet& packet);
  void OnAck(const Packet& packet);
  void OnTimer(QueuePairId id);
  void OnTimeout(QueuePairId id);
  void OnBackground(BackgroundId id);
  void TakeSamples(TimePs up_to);
  void AdvanceAll();

  const PacketSetup setup_;
  PacketEvents events_;
  QueuePairPool queue_pairs_;
  MessagePool messages_;
  Ports ports_;
  SwitchBuffers buffers_;
  Records records_;
  Paths paths_;
  TelemetrySlots telemetry_;
  Nics nics_;
  Connections connections_;
  Deliveries deliveries_;
  Senders senders_;
  Departures departures_;
  Receivers receivers_;
  Forwarding forwarding_;
  Faults faults_;
  Islands islands_;
  Prefetcher prefetcher_;
  std::optional<PacketReplay> replay_;  // Unless no replay is possible.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PACKET_NETWORK_H_
