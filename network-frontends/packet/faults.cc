#include "network-frontends/packet/faults.h"

#include <algorithm>

namespace astra {

Faults::Faults(const PacketSetup& setup, PacketEvents& events, Ports& ports,
               Paths& paths, SwitchBuffers& buffers,
               const QueuePairPool& queue_pairs, Connections& connections,
               Senders& senders, Departures& departures, Forwarding& forwarding)
    : setup_(setup),
      events_(events),
      ports_(ports),
      paths_(paths),
      buffers_(buffers),
      queue_pairs_(queue_pairs),
      connections_(connections),
      senders_(senders),
      departures_(departures),
      forwarding_(forwarding) {}

template <class Visitor>
void Faults::ForEachLinkOf(const LinkEvent& event, Visitor visit) const {
  for (const LinkId out : setup_.topology.links_from(event.a)) {
    if (setup_.topology.link(out).target != event.b) continue;
    visit(out);
    visit(Reverse(out));
  }
}

void Faults::OnLinkChange(LinkEventId id) {
  const LinkEvent& event = setup_.options.link_events[id.index()];
  ForEachLinkOf(event, [&](LinkId link) {
    departures_.Advance(link);
    ports_.SetErrorRate(link,
                        event.error_rate.value_or(setup_.ErrorRateOf(link)));
    SetRate(link, event.rate_factor);
  });
  const TimePs delay = setup_.options.reroute_delay;
  if (delay == TimePs()) return Reroute(id);
  events_.PushReroute(events_.now() + delay, id);
}

void Faults::Reroute(LinkEventId id) {
  ForEachLinkOf(setup_.options.link_events[id.index()], [&](LinkId link) {
    paths_.next_hops().SetLinkUp(link, !ports_[link].is_down);
  });
  for (uint32_t i = 0; i < queue_pairs_.size(); ++i) {
    const QueuePairId qp(i);
    if (!queue_pairs_[qp].is_open) continue;
    const LinkId old = queue_pairs_[qp].link;
    if (old != kNoId<LinkId>) {
      departures_.Advance(old);
      departures_.Arm(old);
    }
    connections_.ChoosePath(qp);
    if (queue_pairs_[qp].link == kNoId<LinkId>) continue;
    if (old == kNoId<LinkId>) senders_.StartControl(qp);
    departures_.Wake(qp);
  }
}

// Sets the rate of the link to `factor` times the rate of the topology. With 0
// it is down: packets on the wire and in its queues are lost.
void Faults::SetRate(LinkId link, double factor) {
  Port& port = ports_[link];
  const bool was_down = port.is_down;
  ports_.SetRate(link, factor);
  if (port.is_down) {
    LosePackets(port);
    if (port.is_paused) forwarding_.SetPaused(link, false);
  } else if (was_down) {
    // The switch at the far end may still require the pause.
    if (buffers_.HasPaused(link)) forwarding_.SetPaused(link, true);
  }
  departures_.Arm(link);
}

// Loses all packets of a port. Those that wait are lost after no time on the
// wire.
void Faults::LosePackets(Port& port) {
  for (Lane& lane : port.lanes) {
    while (lane.has_queued()) {
      Packet& packet = lane.first_queued();
      if (packet.has(Packet::kBuffered)) buffers_.Release(port, packet);
      packet.time = std::max(port.busy_until, events_.now()) + port.propagation;
      lane.PutOnWire();
    }
    for (uint32_t i = 0; i < lane.num_packets(); ++i) {
      lane.at(i).flags |= Packet::kLost;
    }
  }
  port.queued = Bytes();
}

}  // namespace astra
