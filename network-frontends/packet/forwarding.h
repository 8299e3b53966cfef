// Switches: the next link of a packet, its wait in the shared buffer, and the
// pauses that full buffers cause.

#ifndef NETWORK_FRONTENDS_PACKET_FORWARDING_H_
#define NETWORK_FRONTENDS_PACKET_FORWARDING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/connections.h"
#include "network-frontends/packet/departures.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/packet/packet_events.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/paths.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/queue_pair.h"
#include "network-frontends/packet/records.h"
#include "network-frontends/packet/switch_buffers.h"

namespace astra {

class Forwarding {
 public:
  // All arguments must outlive the forwarding.
  Forwarding(const PacketSetup& setup, const PacketEvents& events,
             PortArray ports, Paths& paths, SwitchBuffers& buffers,
             const QueuePairPool& queue_pairs, Connections& connections,
             Departures& departures, Records& records);

  // Forwards `packet`, which came to a switch on link `ingress`, to link
  // `egress` or, with load balancing, to one that is as near to its target.
  void Forward(LinkId ingress, LinkId egress, Packet& packet);

  // Forwards a packet that is off the path of its queue pair. The packet is
  // lost if no path leads from the switch to its target.
  void ForwardOffPath(LinkId ingress, Packet& packet);

  // Handles a pause frame that holds up `link`, or lets it go on.
  void OnPause(LinkId link, bool is_pause);
  // Notes that PFC holds back the data of a link, or no longer does.
  void SetPaused(LinkId link, bool is_pause);

  // Calls `settle` before parts of the network that share no link may affect
  // one another: memory of a switch is short, or a link is paused.
  void set_before_contact(std::function<void()> settle) {
    before_contact_ = std::move(settle);
  }

  // Sends the pause frames that had to wait until no port is being changed.
  void SendPauses();

 private:
  // Link and time of the last packet of a queue pair at a switch.
  struct FlowletState {
    LinkId link = kNoId<LinkId>;
    TimePs last;
  };

  LinkId Balance(LinkId link, const Packet& packet);
  LinkId ShortestQueue(absl::Span<const LinkId> links, size_t first);
  LinkId Flowlet(NodeId node, absl::Span<const LinkId> links,
                 const Packet& packet, size_t first);
  // Takes memory for a packet that must wait at `port` of a switch; returns
  // false if there is none. Memory that was freed meanwhile is counted only
  // when it matters.
  bool TakeBuffer(const Port& port, LinkId ingress, Bytes size) {
    return buffers_.AddIfEasy(port, ingress, size) ||
           TakeScarceBuffer(port, ingress, size);
  }
  bool TakeScarceBuffer(const Port& port, LinkId ingress, Bytes size);
  void TellToPause(PauseChange change);

  const PacketSetup& setup_;
  const PacketEvents& events_;
  const PortArray ports_;
  Paths& paths_;
  SwitchBuffers& buffers_;
  const QueuePairPool& queue_pairs_;
  Connections& connections_;
  Departures& departures_;
  Records& records_;
  const bool balances_load_;
  std::function<void()> before_contact_;
  // State by queue pair and switch; for look-up only.
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, FlowletState> flowlets_;
};

// It is part of its caller, for each packet passes it at each switch.
inline void Forwarding::Forward(LinkId ingress, LinkId egress, Packet& packet) {
  if (balances_load_ && packet.kind == PacketKind::kData) {
    egress = Balance(egress, packet);
  }
  const Port& port = ports_[egress];
  departures_.Advance(egress);
  const TrafficClass traffic_class = departures_.ClassOf(packet.kind);
  if (port.is_down) {
    records_.CountLoss(egress);
    return connections_.Discard(packet);
  }
  // A packet that leaves at once takes no memory.
  const bool waits = port.busy_until > events_.now() || port.queued > Bytes() ||
                     port.is_paused;
  const bool is_buffered = waits && traffic_class == TrafficClass::kData &&
                           port.at != kNoId<SwitchId>;
  if (is_buffered && !TakeBuffer(port, ingress, packet.size())) {
    records_.CountDrop(egress);
    return connections_.Discard(packet);
  }
  departures_.Put(egress, traffic_class, packet, {ingress, is_buffered});
}

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_FORWARDING_H_
