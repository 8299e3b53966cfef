#include "network-frontends/packet/forwarding.h"

#include <algorithm>

#include "astra-core/base/random.h"

namespace astra {

Forwarding::Forwarding(const PacketSetup& setup, const PacketEvents& events,
                       PortArray ports, Paths& paths, SwitchBuffers& buffers,
                       const QueuePairPool& queue_pairs,
                       Connections& connections, Departures& departures,
                       Records& records)
    : setup_(setup),
      events_(events),
      ports_(ports),
      paths_(paths),
      buffers_(buffers),
      queue_pairs_(queue_pairs),
      connections_(connections),
      departures_(departures),
      records_(records),
      balances_load_(setup.options.load_balancing != LoadBalancing::kEcmp) {}

void Forwarding::ForwardOffPath(LinkId ingress, Packet& packet) {
  packet.flags |= Packet::kOwnWay;
  const NodeId node = ports_[ingress].target;
  const QueuePair& qp = queue_pairs_[packet.queue_pair];
  const absl::Span<const LinkId> links = paths_.next_hops().Find(
      node, packet.kind == PacketKind::kData ? qp.target : qp.source);
  if (links.empty()) {
    records_.CountLoss(ingress);
    return connections_.Discard(packet);
  }
  const uint64_t draw = HashOf(qp.key, uint64_t{node.index()});
  Forward(ingress, links[draw % links.size()], packet);
}

// Returns the link for a data packet, out of those as near to its target as
// `link`.
LinkId Forwarding::Balance(LinkId link, const Packet& packet) {
  const NodeId node = ports_[link].source;
  const absl::Span<const LinkId> links =
      paths_.next_hops().Find(node, queue_pairs_[packet.queue_pair].target);
  if (links.size() < 2) return link;
  const uint64_t draw =
      HashOf(setup_.options.seed, uint64_t{packet.queue_pair.index()},
             uint64_t{packet.number.index()} << 32 | node.index());
  const size_t first = draw % links.size();
  switch (setup_.options.load_balancing) {
    case LoadBalancing::kEcmp:
      return link;
    case LoadBalancing::kSpray:
      return links[first];
    case LoadBalancing::kAdaptive:
      return ShortestQueue(links, first);
    case LoadBalancing::kFlowlet:
      return Flowlet(node, links, packet, first);
  }
  return link;
}

// Returns the link with the shortest queue; of equal ones the first from number
// `first` on.
LinkId Forwarding::ShortestQueue(absl::Span<const LinkId> links, size_t first) {
  LinkId best = kNoId<LinkId>;
  TimePs best_time = kNever;
  for (size_t i = 0; i < links.size(); ++i) {
    const LinkId link = links[(first + i) % links.size()];
    departures_.Advance(link);
    const Port& port = ports_[link];
    if (port.is_down) continue;
    // The instant at which the queue would be empty.
    const TimePs clear = port.busy_until + port.Divide(port.queued);
    if (clear >= best_time) continue;
    best_time = clear;
    best = link;
  }
  return best == kNoId<LinkId> ? links.front() : best;
}

// Returns the link for a packet of a flowlet. After a pause of its queue pair
// at this switch it is the link with the shortest queue; packets before the
// pause have left the paths in between.
LinkId Forwarding::Flowlet(NodeId node, absl::Span<const LinkId> links,
                           const Packet& packet, size_t first) {
  FlowletState& state = flowlets_[{packet.queue_pair.index(), node.index()}];
  const TimePs now = events_.now();
  const bool is_new =
      state.link == kNoId<LinkId> ||
      now - state.last > setup_.options.flowlet_gap ||
      ports_[state.link].is_down ||
      std::find(links.begin(), links.end(), state.link) == links.end();
  if (is_new) state.link = ShortestQueue(links, first);
  state.last = now;
  return state.link;
}

// Does the work of TakeBuffer() where memory might be short.
bool Forwarding::TakeScarceBuffer(const Port& port, LinkId ingress,
                                  Bytes size) {
  if (before_contact_) {
    before_contact_();
    if (buffers_.AddIfEasy(port, ingress, size)) return true;
  }
  records_.CountIrregular();
  // Settles the count: brings all ports of the switch up to now.
  for (const LinkId link : setup_.topology.links_from(port.source)) {
    if (ports_[link].queued == Bytes()) continue;
    departures_.Advance(link);
    departures_.Arm(link);
  }
  const Added added = buffers_.Add(port, ingress, size);
  if (added == Added::kNoRoom) return false;
  if (added == Added::kPausesFirst) {  // Its ports are watched from now on.
    for (const LinkId link : setup_.topology.links_from(port.source)) {
      departures_.Advance(link);
      departures_.Arm(link);
    }
  }
  if (added != Added::kFits) buffers_.Tell({ingress, true});
  return true;
}

// Frames may cause further frames, each for a link that a switch has come to
// pause or resume.
void Forwarding::SendPauses() {
  while (buffers_.has_changes()) {
    for (const PauseChange change : buffers_.TakeChanges()) {
      TellToPause(change);
    }
  }
}

// Tells the source of a link to pause or to go on. A link that is down carries
// no frame; Faults tells its source the state when it comes up.
void Forwarding::TellToPause(PauseChange change) {
  constexpr uint16_t kFrameBytes = 84;  // 64 B, preamble and gap.
  const LinkId back = Reverse(change.ingress);
  if (ports_[back].is_down) return;
  Packet frame;
  frame.kind = change.is_pause ? PacketKind::kPause : PacketKind::kResume;
  frame.bytes = kFrameBytes;
  departures_.Transmit(back, TrafficClass::kControl, frame);
}

void Forwarding::OnPause(LinkId link, bool is_pause) {
  if (before_contact_) before_contact_();
  departures_.Advance(link);
  SetPaused(link, is_pause);
  if (is_pause) return;
  departures_.Advance(link);
  departures_.Arm(link);
}

void Forwarding::SetPaused(LinkId link, bool is_pause) {
  ports_[link].is_paused = is_pause;
  records_.AddPause(link, is_pause, events_.now());
}

}  // namespace astra
