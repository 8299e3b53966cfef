#include "network-frontends/packet/departures.h"

#include <algorithm>

#include "astra-core/base/random.h"

namespace astra {

Departures::Departures(const PacketSetup& setup, PacketEvents& events,
                       PortArray ports, Paths& paths, SwitchBuffers& buffers,
                       TelemetrySlots& telemetry, QueuePairPool& queue_pairs,
                       Nics& nics, Senders& senders, Records& records)
    : setup_(setup),
      events_(events),
      ports_(ports),
      paths_(paths),
      buffers_(buffers),
      telemetry_(telemetry),
      queue_pairs_(queue_pairs),
      nics_(nics),
      senders_(senders),
      records_(records),
      marker_(setup),
      ack_has_priority_(setup.options.nic.ack_has_priority) {}

// Lets the first packet of the lane begin to leave at `start`.
[[gnu::always_inline]] inline void Departures::Start(LinkId link, Port& port,
                                                     Lane& lane, TimePs start) {
  Packet& packet = lane.first_queued();
  const Bytes size = packet.size();
  const TimePs serialisation = port.SerialisationTime(size);
  port.busy_until = start + serialisation;
  port.busy += serialisation;
  port.sent_bytes += packet.bytes;
  ++port.sent_packets;
  if (&lane == &port.lane(TrafficClass::kData)) port.queued -= size;
  if (packet.has(Packet::kBuffered)) buffers_.Release(port, packet);
  if (packet.kind == PacketKind::kData) {
    port.sent_data_bytes += packet.bytes;
    ++port.sent_data_packets;
    if (port.marks && port.queued > Bytes() && marker_.MayMark(link, port)) {
      records_.CountIrregular();
      if (marker_.Marks(link, port)) {
        packet.flags |= Packet::kMarked;
        records_.CountMark(link);
      }
    }
    if (port.at != kNoId<SwitchId>) {
      telemetry_.Stamp(link, port, packet, start);
    }
  }
  if (port.has_errors && packet.kind < PacketKind::kPause) {
    const uint64_t draw =
        HashOf(setup_.options.seed, uint64_t{link.index()}, port.sent_packets);
    if (UnitInterval(draw) < port.error_rate) {
      packet.flags |= Packet::kLost;
    }
  }
  if (records_.captures(link)) {
    const bool has_qp = packet.queue_pair != kNoId<QueuePairId>;
    records_.AddCapture(
        packet, has_qp ? &queue_pairs_[packet.queue_pair] : nullptr, start);
  }
  packet.time = start + port.propagation +
                (port.cuts_through ? UntilForwarded(port, packet, serialisation)
                                   : serialisation);
  lane.PutOnWire();
}

void Departures::Transmit(LinkId link, TrafficClass traffic_class,
                          const Packet& packet, Origin origin) {
  Port& port = ports_[link];
  const TimePs now = events_.now();
  if (port.busy_until < now) Advance(link);
  const bool is_data = traffic_class == TrafficClass::kData;
  const bool leaves_at_once = port.busy_until == now && !port.has_queued() &&
                              !port.is_down && !(is_data && port.is_paused);
  if (is_data) port.queued += packet.size();
  // Changing the copy and not `packet` spares the processor a wait; see
  // Packet::padding.
  Lane& lane = port.lane(traffic_class);
  Packet& queued = lane.Append();
  queued = packet;
  queued.time = now;
  queued.ingress = origin.ingress;
  ++queued.hop;
  if (origin.is_buffered) queued.flags |= Packet::kBuffered;
  if (leaves_at_once) Start(link, port, lane, now);
  if (port.busy_until <= now) AdvanceIdle(link, port);
  port.max_queued = std::max(port.max_queued, port.queued);
  Arm(link);
}

void Departures::AdvanceSender(QueuePairId id) {
  const LinkId link = queue_pairs_[id].link;
  if (link != kNoId<LinkId>) Advance(link);
}

void Departures::Wake(QueuePairId id) {
  QueuePair& qp = queue_pairs_[id];
  if (qp.turn != QueuePair::Turn::kNone || !senders_.CanSend(qp)) return;
  const LinkId link = qp.link;
  Advance(link);
  nics_.TakeTurn(id, ports_[link]);
  Advance(link);
  Arm(link);
}

// Does the work of Advance() where the port may be idle.
void Departures::AdvanceIdle(LinkId link, Port& port) {
  const TimePs now = events_.now();
  while (port.busy_until <= now && !port.is_down) {
    Lane& control = port.lane(TrafficClass::kControl);
    if (control.has_queued() &&
        control.first_queued().time <= port.busy_until) {
      Start(link, port, control, port.busy_until);
      continue;
    }
    Lane& data = port.lane(TrafficClass::kData);
    if (!port.is_paused && data.has_queued() &&
        data.first_queued().time <= port.busy_until) {
      Start(link, port, data, port.busy_until);
      continue;
    }
    if (!data.has_queued() && HasSender(port) && StartFromNic(link, port)) {
      continue;
    }
    // The port is idle until a packet may leave.
    const TimePs next = NextStart(port);
    if (next > now || next <= port.busy_until) break;
    port.busy_until = next;
  }
  port.busy_until = std::max(port.busy_until, now);
}

// Sends a packet of the queue pair whose turn it is; returns false if none may
// send.
bool Departures::StartFromNic(LinkId link, Port& port) {
  const QueuePairId id = senders_.NextTurn(link, port);
  if (id == kNoId<QueuePairId>) return false;
  const TimePs start = port.busy_until;
  Lane& lane = port.lane(TrafficClass::kData);
  // Made where it lies: a processor waits to copy what it has just written.
  Packet& packet = lane.Append();
  senders_.MakePacket(id, start, packet);
  const Bytes size = packet.size();
  port.queued += size;
  Start(link, port, lane, start);
  senders_.AfterSending(id, start, size, port);
  return true;
}

// Returns when a waiting packet may leave, if nothing else happens.
TimePs Departures::NextStart(const Port& port) const {
  TimePs next = kNever;
  if (port.is_down) return next;
  for (size_t i = 0; i < kNumTrafficClasses; ++i) {
    const Lane& lane = port.lanes[i];
    if (!lane.has_queued()) continue;
    if (port.is_paused && i == static_cast<size_t>(TrafficClass::kData)) {
      continue;
    }
    next = std::min(next, lane.first_queued().time);
  }
  if (HasSender(port)) next = std::min(next, nics_.NextStart(port));
  return next == kNever ? next : std::max(next, port.busy_until);
}

// Returns how long a packet must have been leaving before the switch at the far
// end may pass it on. That is the time of its head; a longer time if the next
// link is faster and would run dry; or the time of the whole packet if the
// packet goes no further.
TimePs Departures::UntilForwarded(const Port& port, const Packet& packet,
                                  TimePs serialisation) {
  if (packet.queue_pair == kNoId<QueuePairId> || packet.size() <= kCutThrough) {
    return serialisation;
  }
  const LinkId next = paths_.Next(packet);
  if (next == kNoId<LinkId> || ports_[next].source != port.target) {
    return serialisation;
  }
  TimePs fastest = ports_[next].is_down
                       ? serialisation
                       : ports_[next].SerialisationTime(packet.size());
  if (setup_.options.load_balancing != LoadBalancing::kEcmp) {
    const NodeId target = queue_pairs_[packet.queue_pair].target;
    for (const LinkId link : paths_.next_hops().Find(port.target, target)) {
      fastest =
          std::min(fastest, ports_[link].SerialisationTime(packet.size()));
    }
  }
  return std::max(port.Divide(kCutThrough), serialisation - fastest);
}

// Does the work of Arm() where departures are events: at a watched port and,
// with an empty wire, at any.
void Departures::ArmEarly(LinkId link, Port& port) {
  const TimePs arrival = port.FirstArrival();
  const TimePs next = std::min(arrival, NextStart(port));
  if (next >= port.event) return;
  port.event = next;
  port.is_event_of_wire = arrival != kNever;
  events_.PushLink(next, link);
}

}  // namespace astra
