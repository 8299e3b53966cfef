// Faults and background: links that change, and traffic of others.

#include <algorithm>
#include <cmath>

#include "network-frontends/packet/packet_network.h"

namespace astra {

void PacketNetwork::OnLinkChange(uint32_t index) {
  const LinkEvent& event = options_.link_events[index];
  for (const LinkId out : topology_.links_from(event.a)) {
    if (topology_.link(out).target != event.b) continue;
    for (const uint32_t link : {out.index(), out.index() ^ 1}) {
      Advance(link);
      SetRate(link, event.rate_factor);
    }
  }
  // Queue pairs that lost their path look for another, and so do those that had
  // none.
  for (uint32_t id = 0; id < queue_pairs_.size(); ++id) {
    if (!queue_pairs_[id].is_open) continue;
    const bool had_path = queue_pairs_[id].link != kNone;
    if (had_path) {
      Advance(queue_pairs_[id].link);  // Still on the old path.
      Arm(queue_pairs_[id].link);
    }
    FindPaths(id);
    QueuePair& qp = queue_pairs_[id];
    if (qp.link == kNone) continue;
    if (!had_path) StartControl(id);
    MakeReady(id);
  }
}

// Sets the rate of the link to `factor` times the rate of the topology. With 0
// it is down: packets on the wire and in its queues are lost.
void PacketNetwork::SetRate(uint32_t link, double factor) {
  Port& port = ports_[link];
  const int64_t nominal = topology_.type(LinkId(link)).bandwidth.count();
  const bool was_down = port.nominal_bps > 0 && port.rate_bps == 0;
  port.nominal_bps = nominal;
  port.rate_bps = std::llround(static_cast<double>(nominal) * factor);
  port.is_down = port.rate_bps == 0;
  if (port.rate_bps > 0) {
    port.known_bytes = payload_bytes_ + header_bytes_;
    port.known_ps = port.Divide(port.known_bytes);
    port.known_ack_bytes = ack_bytes_;
    port.known_ack_ps = port.Divide(ack_bytes_);
    if (was_down) {
      next_hops_.SetLinkUp(LinkId(link), true);
      // The switch at the far end may still require the pause.
      if (ingress_[link].has_paused) SetPaused(link, true);
    }
    Arm(link);
    return;
  }
  next_hops_.SetLinkUp(LinkId(link), false);
  for (Lane& lane : port.lanes) {
    while (lane.has_queued()) {
      // The packet is lost after no time on the wire.
      Packet& packet = lane.first_queued();
      if ((packet.flags & Packet::kBuffered) != 0) {
        packet.flags &= static_cast<uint8_t>(~Packet::kBuffered);
        ReleaseBuffer(port, packet);
      }
      packet.time_ps =
          std::max(port.busy_until_ps, now_ps_) + port.propagation_ps;
      lane.PutOnWire();
    }
    for (uint32_t i = 0; i < lane.num_packets(); ++i) {
      lane.at(i).flags |= Packet::kLost;
    }
  }
  port.queued_bytes = 0;
  if (port.is_paused) SetPaused(link, false);
  Arm(link);
}

// Sends the next background message and schedules the one after it.
void PacketNetwork::OnBackground(uint32_t index) {
  const BackgroundTraffic& traffic = options_.background[index];
  if (now() >= traffic.stop) return;
  const uint32_t qp = ConnectionOf({.id = MessageId(),
                                    .source = traffic.source,
                                    .target = traffic.target,
                                    .bytes = traffic.bytes,
                                    .channel = kBackgroundChannel});
  MessageState message;
  message.is_background = true;
  message.bytes = traffic.bytes.count();
  message.start_ps = now_ps_;
  Enqueue(qp, message);
  Push((now() + traffic.interval).count(), EventKind::kBackground, index);
}

}  // namespace astra
