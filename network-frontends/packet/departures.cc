#include "network-frontends/packet/departures.h"

#include <algorithm>

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
      marker_(setup, ports),
      ack_has_priority_(setup.options.nic.ack_has_priority) {}

// Does the work of Wake() for a queue pair that is not queued yet.
void Departures::TakeTurn(QueuePairId id) {
  const QueuePair& qp = queue_pairs_[id];
  if (!senders_.CanSend(qp)) return;
  const LinkId link = qp.link;
  Advance(link);
  nics_.TakeTurn(id, ports_[link]);
  AdvanceThrough(link);
  Arm(link);
}

// Decides which packets leave a port, which may be idle, up to `until`.
void Departures::AdvanceIdle(LinkId link, Port& port, TimePs until) {
  while (port.busy_until <= until && !port.is_down) {
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
    if (next > until || next <= port.busy_until) break;
    port.busy_until = next;
  }
  port.busy_until = std::max(port.busy_until, events_.now());
}

// Sends a packet of the queue pair whose turn it is; returns false if none may
// send.
bool Departures::StartFromNic(LinkId link, Port& port) {
  const QueuePairId id = senders_.NextTurn(link, port);
  if (id == kNoId<QueuePairId>) return false;
  const TimePs start = port.busy_until;
  Lane& lane = port.lane(TrafficClass::kData);
  // Made where it lies: a processor waits to copy what it has just written.
  Packet& packet = lane.Append(ports_.memory());
  senders_.MakePacket(id, start, packet);
  const Bytes size = packet.size();
  port.queued += size;
  Start(link, port, lane, start);
  senders_.AfterSending(id, start, size, port);
  return true;
}

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
// end may pass it on: CutThroughTime() to the fastest link that it may take, or
// the time of the whole packet if the packet goes no further.
TimePs Departures::UntilForwarded(const Port& port, const Packet& packet,
                                  TimePs serialisation) {
  if (packet.queue_pair == kNoId<QueuePairId> ||
      packet.size() <= kCutThroughHead) {
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
  return CutThroughTime(port.Divide(kCutThroughHead), serialisation, fastest);
}

// Does the work of Arm() where departures are events: at a watched port and,
// with an empty wire, at any.
void Departures::ArmEarly(LinkId link, Port& port) {
  const TimePs arrival = port.FirstArrival().time;
  const TimePs next = std::min(arrival, NextStart(port));
  if (next >= port.event) return;
  port.event = next;
  port.is_event_of_wire = arrival != kNever;
  events_.PushLink(next, link);
}

}  // namespace astra
