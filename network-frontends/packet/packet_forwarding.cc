// Switches: the next link of a packet, and the effect of its queueing on
// others.

#include <algorithm>

#include "absl/types/span.h"
#include "astra-core/base/random.h"
#include "network-frontends/packet/packet_network.h"

namespace astra {

// Forwards `packet`, which came to a switch on link `ingress`, to link
// `egress`.
void PacketNetwork::Forward(uint32_t ingress, uint32_t egress, Packet& packet) {
  if (options_.load_balancing != LoadBalancing::kEcmp &&
      packet.kind == PacketKind::kData) {
    egress = Balance(egress, packet);
  }
  Port& port = ports_[egress];
  Advance(egress);
  ++packet.hop;
  packet.time_ps = now_ps_;
  const bool is_control =
      packet.kind != PacketKind::kData && options_.nic.ack_has_priority;
  if (port.rate_bps == 0) {
    ++statistics_.links[egress].lost;
    ++statistics_.num_losses;
    return Discard(packet);
  }
  packet.ingress = ingress;
  // A packet that leaves at once takes no memory.
  const bool waits =
      port.busy_until_ps > now_ps_ || port.queued_bytes > 0 || port.is_paused;
  if (waits && !is_control && !TakeBuffer(port, packet)) {
    ++statistics_.links[egress].dropped;
    ++statistics_.num_drops;
    return Discard(packet);
  }
  Transmit(egress, is_control ? TrafficClass::kControl : TrafficClass::kData,
           packet);
}

// Returns the next link of a packet that is off the path of its queue pair, or
// kNone if no path leads to its target.
uint32_t PacketNetwork::NextLink(uint32_t node, Packet& packet) {
  packet.flags |= Packet::kOwnWay;
  const QueuePair& qp = queue_pairs_[packet.queue_pair];
  const uint32_t target =
      packet.kind == PacketKind::kData ? qp.target : qp.source;
  const absl::Span<const LinkId> links =
      next_hops_.Find(NodeId(node), NodeId(target));
  if (links.empty()) return kNone;
  return links[HashOf(qp.key, uint64_t{node}) % links.size()].index();
}

// Returns the link for a data packet, out of those as near to its target as
// `link`.
uint32_t PacketNetwork::Balance(uint32_t link, const Packet& packet) {
  const uint32_t node = ports_[link].source;
  const uint32_t target = queue_pairs_[packet.queue_pair].target;
  const absl::Span<const LinkId> links =
      next_hops_.Find(NodeId(node), NodeId(target));
  if (links.size() < 2) return link;
  const uint64_t draw = HashOf(options_.seed, uint64_t{packet.queue_pair},
                               uint64_t{packet.sequence} << 32 | node);
  switch (options_.load_balancing) {
    case LoadBalancing::kEcmp:
      return link;
    case LoadBalancing::kSpray:
      return links[draw % links.size()].index();
    case LoadBalancing::kAdaptive:
      return ShortestQueue(links, draw % links.size());
    case LoadBalancing::kFlowlet:
      return Flowlet(link, links, packet, draw);
  }
  return link;
}

// Returns the link with the shortest queue; of equal ones the first from number
// `first` on.
uint32_t PacketNetwork::ShortestQueue(absl::Span<const LinkId> links,
                                      size_t first) {
  uint32_t best = kNone;
  int64_t best_ps = kNever;
  for (size_t i = 0; i < links.size(); ++i) {
    const uint32_t link = links[(first + i) % links.size()].index();
    Advance(link);
    const Port& port = ports_[link];
    if (port.rate_bps == 0) continue;
    // The instant at which the queue would be empty.
    const int64_t clear_ps =
        port.busy_until_ps +
        port.Divide(static_cast<uint64_t>(port.queued_bytes));
    if (clear_ps >= best_ps) continue;
    best_ps = clear_ps;
    best = link;
  }
  return best == kNone ? links.front().index() : best;
}

// Returns the link for a packet of a flowlet. After a pause of its queue pair
// at this switch it is the link with the shortest queue; packets before the
// pause have left the paths in between.
uint32_t PacketNetwork::Flowlet(uint32_t link, absl::Span<const LinkId> links,
                                const Packet& packet, uint64_t draw) {
  FlowletState& state = flowlets_[{packet.queue_pair, ports_[link].source}];
  const bool is_new =
      state.link == kNone ||
      now_ps_ - state.last_ps > options_.flowlet_gap.count() ||
      ports_[state.link].rate_bps == 0 ||
      std::find(links.begin(), links.end(), LinkId(state.link)) == links.end();
  if (is_new) state.link = ShortestQueue(links, draw % links.size());
  state.last_ps = now_ps_;
  return state.link;
}

// Takes memory for a packet that must wait at `port`; returns false if there is
// none. Memory that was freed meanwhile is counted only when it matters.
bool PacketNetwork::TakeBuffer(Port& port, Packet& packet) {
  if (port.switch_index == kNone) return true;
  Switch& at = switches_[port.switch_index];
  IngressBuffer& from = ingress_[packet.ingress];
  const int64_t bytes = packet.bytes;
  packet.flags |= Packet::kBuffered;
  if (at.buffer.IsEasy(from, port.queued_bytes, bytes)) {
    at.buffer.Add(from, bytes);
    return true;
  }
  Settle(at);
  if (!at.buffer.HasRoom(from, port.queued_bytes, bytes)) {
    packet.flags &= static_cast<uint8_t>(~Packet::kBuffered);
    return false;
  }
  at.buffer.Add(from, bytes);
  if (at.buffer.ShouldPause(from)) {
    from.has_paused = true;
    if (at.buffer.num_paused++ == 0) Watch(at, true);
    pauses_.emplace_back(packet.ingress, true);
  }
  return true;
}

// Brings all ports of a switch up to now.
void PacketNetwork::Settle(const Switch& at) {
  for (const LinkId link : topology_.links_from(NodeId(at.node))) {
    if (ports_[link.index()].queued_bytes == 0) continue;
    Advance(link.index());
    Arm(link.index());
  }
}

void PacketNetwork::ReleaseBuffer(Port& port, const Packet& packet) {
  Switch& at = switches_[port.switch_index];
  IngressBuffer& from = ingress_[packet.ingress];
  at.buffer.Remove(from, packet.bytes);
  if (!at.buffer.ShouldResume(from)) return;
  from.has_paused = false;
  if (--at.buffer.num_paused == 0) Watch(at, false);
  pauses_.emplace_back(packet.ingress, false);
}

// Tells the source of link `ingress` to pause or to go on. A link that is down
// carries no frame; SetRate tells its source the state when it comes up.
void PacketNetwork::TellToPause(uint32_t ingress, bool is_pause) {
  if (ports_[ingress ^ 1].is_down) return;
  Packet frame;
  frame.kind = is_pause ? PacketKind::kPause : PacketKind::kResume;
  frame.bytes = kPauseBytes;
  frame.time_ps = now_ps_;
  Transmit(ingress ^ 1, TrafficClass::kControl, frame);
}

// While an incoming link is paused, makes each departure of the switch an
// event, because each may end the pause.
void PacketNetwork::Watch(const Switch& at, bool is_watched) {
  for (const LinkId link : topology_.links_from(NodeId(at.node))) {
    ports_[link.index()].is_watched = is_watched;
    if (!is_watched) continue;
    Advance(link.index());
    Arm(link.index());
  }
}

void PacketNetwork::OnPause(uint32_t link, bool is_pause) {
  Advance(link);
  SetPaused(link, is_pause);
  if (is_pause) return;
  Advance(link);
  Arm(link);
}

void PacketNetwork::SetPaused(uint32_t link, bool is_pause) {
  ports_[link].is_paused = is_pause;
  if (options_.record.pfc) {
    Append(statistics_.pfc, PfcRecord{now(), LinkId(link), is_pause});
  }
  if (is_pause) {
    ++statistics_.links[link].pauses;
    paused_since_ps_[link] = now_ps_;
  } else if (paused_since_ps_[link] != kNever) {
    statistics_.links[link].paused += TimePs(now_ps_ - paused_since_ps_[link]);
    paused_since_ps_[link] = kNever;
  }
}

// Marks a packet by the RED profile of the switch, at dequeue. Source: Y. Zhu
// et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015,
// section 3.1.
void PacketNetwork::Mark(uint32_t link, const Port& port, Packet& packet) {
  const MarkingProfile& profile = profiles_[link_profile_[link]];
  if (port.queued_bytes <= profile.min_bytes) return;
  if (port.queued_bytes < profile.max_bytes) {
    const double probability =
        profile.max_probability *
        static_cast<double>(port.queued_bytes - profile.min_bytes) /
        static_cast<double>(profile.max_bytes - profile.min_bytes);
    const uint64_t draw =
        HashOf(options_.seed, uint64_t{link}, ~port.sent_packets);
    if (UnitInterval(draw) >= probability) return;
  }
  packet.flags |= Packet::kMarked;
  ++statistics_.links[link].marked;
}

void PacketNetwork::AddHop(const Port& port, const Packet& packet,
                           int64_t start_ps) {
  if (packet.telemetry == kNone) return;
  TelemetrySlot& slot = telemetry_[packet.telemetry];
  if (slot.num_hops == TelemetrySlot::kMaxHops) return;
  slot.hops[slot.num_hops++] = {
      .time = TimePs(start_ps),
      .sent_bytes = static_cast<int64_t>(port.sent_bytes),
      .queued_bytes = port.queued_bytes,
      .rate = Bandwidth(port.rate_bps)};
}

// Updates the average utilization U of a port with each data packet that leaves
// it. With dt the time since the packet before, at most the round trip T of the
// network,
//
//   U <- (1 - dt/T) U + queued dt/(B T^2) + sent/(B T)
//
// The packet keeps the largest average of the ports on its path.
//
// Source: R. Ben Basat et al., "PINT", SIGCOMM 2020, section 4.3, example 3.
void PacketNetwork::AddUtilization(uint32_t link, const Port& port,
                                   const Packet& packet, int64_t start_ps) {
  PortUtilization& state = utilization_[link];
  const auto rtt = static_cast<double>(std::max<int64_t>(1, network_rtt_ps_));
  const double room = static_cast<double>(port.rate_bps) * rtt / 8e12;  // B T
  const double share =
      std::min(1.0, static_cast<double>(start_ps - state.updated_ps) / rtt);
  // Bytes that have left since then, without this packet.
  const uint64_t sent = port.sent_bytes - packet.bytes - state.sent_bytes;
  state.average = (1 - share) * state.average +
                  share * static_cast<double>(port.queued_bytes) / room +
                  std::min(static_cast<double>(sent) / room, 1.0);
  state.updated_ps = start_ps;
  state.sent_bytes = port.sent_bytes - packet.bytes;
  if (packet.telemetry == kNone) return;
  TelemetrySlot& slot = telemetry_[packet.telemetry];
  slot.utilization = std::max(slot.utilization, state.average);
}

uint32_t PacketNetwork::NewTelemetry() {
  if (free_telemetry_.empty()) {
    free_telemetry_.push_back(static_cast<uint32_t>(telemetry_.size()));
    telemetry_.emplace_back();
  }
  const uint32_t slot = free_telemetry_.back();
  free_telemetry_.pop_back();
  telemetry_[slot].num_hops = 0;
  telemetry_[slot].utilization = 0;
  telemetry_[slot].arrived = kNone;
  return slot;
}

}  // namespace astra
