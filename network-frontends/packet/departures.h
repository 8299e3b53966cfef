// Decides which packets leave the ports, and when. It decides late: a packet
// costs one event for each link, at which it is at the far end.
//
// Transmit puts a packet into a port. Advance decides which packets have left a
// port up to now; whatever could change a departure calls it first. Arm makes
// sure that the port has its one pending event. AdvanceSender and Wake do the
// same for the port of a queue pair whose sender changes.
//
// As a packet begins to leave, it frees its memory at the switch, may be marked
// or lost, and gathers telemetry.

#ifndef NETWORK_FRONTENDS_PACKET_DEPARTURES_H_
#define NETWORK_FRONTENDS_PACKET_DEPARTURES_H_

#include <algorithm>
#include <cstdint>

#include "astra-core/base/ids.h"
#include "astra-core/base/random.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/ecn_marker.h"
#include "network-frontends/packet/nics.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/packet/packet_events.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/paths.h"
#include "network-frontends/packet/port.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/queue_pair.h"
#include "network-frontends/packet/records.h"
#include "network-frontends/packet/senders.h"
#include "network-frontends/packet/switch_buffers.h"
#include "network-frontends/packet/telemetry.h"

namespace astra {

class Departures {
 public:
  // All arguments must outlive the departures.
  Departures(const PacketSetup& setup, PacketEvents& events, PortArray ports,
             Paths& paths, SwitchBuffers& buffers, TelemetrySlots& telemetry,
             QueuePairPool& queue_pairs, Nics& nics, Senders& senders,
             Records& records);

  // Decides which packets leave the port up to now, or before now at a host:
  // what comes to a NIC at the instant at which its port becomes free takes
  // part in the choice, as in ns-3. NVSwitches decide as all switches do,
  // whether or not they have messages of their own, so that what a port once
  // sent changes nothing later. Nothing that could change the decision has
  // happened since the last call.
  void Advance(LinkId link) {
    Port& port = ports_[link];
    const TimePs now = events_.now();
    const TimePs until = port.at != kNoId<SwitchId> ? now : now - TimePs(1);
    if (port.busy_until > until) return;
    if (HasNothing(port)) {
      port.busy_until = now;
    } else {
      AdvanceIdle(link, port, until);
    }
  }
  // Decides also which packet leaves now.
  void AdvanceThrough(LinkId link) {
    Port& port = ports_[link];
    if (port.busy_until <= events_.now())
      AdvanceIdle(link, port, events_.now());
  }

  // Makes sure that the port has an event when the first packet on the wire
  // reaches the far end or, with an empty wire, when a packet may leave.
  // Packets that come onto the wire later also arrive later.
  void Arm(LinkId link) {
    Port& port = ports_[link];
    if (port.is_watched) return ArmEarly(link, port);
    if (port.is_event_of_wire) return;
    const TimePs arrival = port.FirstArrival().time;
    if (arrival != kNever) return ArmArrival(link, port, arrival);
    if (!HasNothing(port)) ArmEarly(link, port);
  }
  // Does the same for a port whose event is over. Its first packet on the wire
  // reaches the far end at `arrival`; kNever: none is on it.
  void ArmAgain(LinkId link, Port& port, TimePs arrival) {
    port.event = kNever;
    if (port.is_watched || arrival == kNever) {
      port.is_event_of_wire = false;
      return Arm(link);
    }
    ArmArrival(link, port, arrival);
  }

  // How a packet came to a switch.
  struct Origin {
    LinkId ingress = kNoId<LinkId>;  // Link on which it came.
    bool is_buffered = false;        // It has taken memory of the switch.
  };
  // Puts a copy of `packet` into the port now.
  void Transmit(LinkId link, TrafficClass traffic_class, const Packet& packet) {
    Transmit(link, traffic_class, packet, Origin());
  }
  void Transmit(LinkId link, TrafficClass traffic_class, const Packet& packet,
                Origin origin) {
    if (ports_[link].busy_until < events_.now()) Advance(link);
    Put(link, traffic_class, packet, origin);
  }
  // Does the same at a port that is advanced.
  void Put(LinkId link, TrafficClass traffic_class, const Packet& packet,
           Origin origin);

  // Advances the port of the queue pair, if it has one.
  void AdvanceSender(QueuePairId id) {
    const LinkId link = queue_pairs_[id].link;
    if (link != kNoId<LinkId>) Advance(link);
  }
  // Queues the queue pair for its turn, if it may send.
  void Wake(QueuePairId id) {
    if (queue_pairs_[id].turn == QueuePair::Turn::kNone) TakeTurn(id);
  }

  // Returns when a waiting packet may leave, if nothing else happens; kNever if
  // none waits.
  TimePs NextStart(const Port& port) const;

  // Returns whether the packet waits and leaves before data.
  TrafficClass ClassOf(PacketKind kind) const {
    return kind != PacketKind::kData && ack_has_priority_
               ? TrafficClass::kControl
               : TrafficClass::kData;
  }

 private:
  // Returns whether queue pairs of the port's NIC have something to send.
  bool HasSender(const Port& port) const {
    return port.nic != kNoId<NicId> && !port.is_paused && nics_.HasAny(port);
  }
  bool HasNothing(const Port& port) const {
    return !port.has_queued() && !HasSender(port);
  }
  void TakeTurn(QueuePairId id);
  void AdvanceIdle(LinkId link, Port& port, TimePs until);
  bool StartFromNic(LinkId link, Port& port);
  void Start(LinkId link, Port& port, Lane& lane, TimePs start);
  void ArmArrival(LinkId link, Port& port, TimePs arrival) {
    if (arrival >= port.event) return;
    port.event = arrival;
    port.is_event_of_wire = true;
    events_.PushLink(arrival, link);
  }
  void ArmEarly(LinkId link, Port& port);
  TimePs UntilForwarded(const Port& port, const Packet& packet,
                        TimePs serialisation);

  const PacketSetup& setup_;
  PacketEvents& events_;
  const PortArray ports_;
  Paths& paths_;
  SwitchBuffers& buffers_;
  TelemetrySlots& telemetry_;
  QueuePairPool& queue_pairs_;
  Nics& nics_;
  Senders& senders_;
  Records& records_;
  const EcnMarker marker_;
  const bool ack_has_priority_;
};

// The two functions that each packet passes at each port are part of their
// callers.

// Lets the first packet of the lane begin to leave at `start`.
[[gnu::always_inline]] inline void Departures::Start(LinkId link, Port& port,
                                                     Lane& lane, TimePs start) {
  Packet& packet = lane.first_queued();
  const Bytes size = packet.size();
  const TimePs serialisation = port.Count(packet);
  port.busy_until = start + serialisation;
  if (&lane == &port.lane(TrafficClass::kData)) port.queued -= size;
  if (packet.has(Packet::kBuffered)) buffers_.Release(port, packet);
  if (packet.kind == PacketKind::kData) {
    if (port.queued > port.mark_above) {
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
        HashOf(setup_.options.seed, uint64_t{link.index()}, port.num_sent());
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

inline void Departures::Put(LinkId link, TrafficClass traffic_class,
                            const Packet& packet, Origin origin) {
  Port& port = ports_[link];
  const TimePs now = events_.now();
  const bool is_data = traffic_class == TrafficClass::kData;
  const bool leaves_at_once = port.busy_until == now && !port.has_queued() &&
                              !port.is_down && !(is_data && port.is_paused);
  if (is_data) port.queued += packet.size();
  // Changing the copy and not `packet` spares the processor a wait; see
  // Packet::padding.
  Lane& lane = port.lane(traffic_class);
  Packet& queued = lane.Append(ports_.memory());
  queued = packet;
  queued.time = now;
  queued.ingress = origin.ingress;
  ++queued.hop;
  if (origin.is_buffered) queued.flags |= Packet::kBuffered;
  if (leaves_at_once) Start(link, port, lane, now);
  if (port.busy_until <= now) AdvanceIdle(link, port, now);
  port.max_queued = std::max(port.max_queued, port.queued);
  Arm(link);
}

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_DEPARTURES_H_
