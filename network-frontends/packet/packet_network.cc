#include "network-frontends/packet/packet_network.h"

#include "astra-core/base/check.h"
#include "astra-core/base/units.h"

namespace astra {

PacketNetwork::PacketNetwork(const Topology& topology,
                             const PacketOptions& options)
    : setup_(topology, options),
      ports_(setup_),
      buffers_(setup_, ports_),
      records_(setup_),
      paths_(setup_, ports_),
      telemetry_(setup_, paths_.network_rtt()),
      nics_(queue_pairs_),
      connections_(setup_, events_, ports_, paths_, telemetry_, queue_pairs_,
                   nics_),
      deliveries_(setup_, events_, paths_, records_),
      senders_(setup_, events_, ports_.array(), paths_, telemetry_,
               queue_pairs_, messages_, nics_, deliveries_, records_),
      departures_(setup_, events_, ports_.array(), paths_, buffers_, telemetry_,
                  queue_pairs_, nics_, senders_, records_),
      receivers_(setup_, events_, ports_, paths_, telemetry_, queue_pairs_,
                 messages_, connections_, deliveries_, departures_),
      forwarding_(setup_, events_, ports_.array(), paths_, buffers_,
                  queue_pairs_, connections_, departures_, records_),
      faults_(setup_, events_, ports_, paths_, buffers_, queue_pairs_,
              connections_, senders_, departures_, forwarding_),
      islands_(parts(), [this](const Agenda::Entry& event) { Handle(event); }),
      prefetcher_(events_, ports_, paths_, queue_pairs_) {
  for (uint32_t i = 0; i < options.link_events.size(); ++i) {
    const TimePs time = options.link_events[i].time;
    if (time == TimePs()) {
      faults_.OnLinkChange(LinkEventId(i));
    } else {
      events_.PushLinkChange(time, LinkEventId(i));
    }
  }
  if (PacketReplay::IsPossible(setup_)) {
    replay_.emplace(parts(),
                    [this](TimePs time, std::vector<MessageId>* arrived) {
                      AdvanceTo(time, arrived);
                    });
    forwarding_.set_before_contact([this] { islands_.CatchUp(); });
  }
  for (uint32_t i = 0; i < options.background.size(); ++i) {
    events_.PushBackground(options.background[i].start, BackgroundId(i));
  }
}

NetworkParts PacketNetwork::parts() {
  return {setup_,       events_,   ports_,       buffers_,    records_,
          paths_,       nics_,     connections_, deliveries_, senders_,
          queue_pairs_, messages_, telemetry_,   departures_, islands_};
}

void PacketNetwork::Send(const Message& message) {
  MessageState state;
  deliveries_.Expect(message, &state);
  Enqueue(message, state);
  forwarding_.SendPauses();
}

void PacketNetwork::SendAway(const Message& message) {
  Enqueue(message, {});
  forwarding_.SendPauses();
}

// Gives a message to the queue pair that is to carry it.
void PacketNetwork::Enqueue(const Message& message, const MessageState& state) {
  const auto [id, is_new] = connections_.Find(message);
  if (is_new) senders_.StartControl(id);
  islands_.BeforeSend(id);
  // Brings the port up to now without the new message.
  departures_.AdvanceSender(id);
  senders_.Enqueue(id, message, state);
  departures_.Wake(id);
}

void PacketNetwork::AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) {
  Agenda& agenda = events_.agenda();
  // Without a limit, what is left when all messages are there is of no account.
  const bool is_over = limit == kNever && deliveries_.num_in_flight() == 0;
  while (!is_over && agenda.HasUntil(limit.count())) {
    const Agenda::Entry event = agenda.next();
    const TimePs time(event.time_ps);
    if (time > limit) break;
    ASTRA_CHECK(time >= now(), "time goes from {} to {}", now(), time);
    if (time > now() && deliveries_.has_any()) break;
    prefetcher_.BeforeEvent();
    agenda.Pop();
    if (time > records_.next_sample()) TakeSamples(time);
    Handle(event);
    const uint64_t num_events = records_.totals().num_events;
    if (num_events >= islands_.due()) islands_.AfterEvent(num_events);
  }
  if (deliveries_.has_any()) {
    events_.set_now(now());
    return deliveries_.Take(arrived);
  }
  events_.set_now(limit);
}

void PacketNetwork::Handle(const Agenda::Entry& event) {
  events_.Begin(event);
  ++records_.totals().num_events;
  if (PacketEvents::KindOf(event.key) == EventKind::kLink) {
    OnLink(PacketEvents::IdOf<LinkId>(event.key));
  } else {
    HandleOther(event.key);
  }
  if (buffers_.has_changes()) forwarding_.SendPauses();
}

void PacketNetwork::Drain() {
  if (!setup_.options.background.empty()) return;  // It never ends.
  islands_.CatchUp();
  std::vector<MessageId> arrived;
  for (const QueuePair& qp : queue_pairs_) {
    while (qp.is_open && qp.in_network > 0 && !events_.agenda().empty()) {
      AdvanceTo(TimePs(events_.agenda().next().time_ps), &arrived);
    }
  }
}

// Handles the events that do not belong to links, which are few.
void PacketNetwork::HandleOther(uint32_t key) {
  switch (PacketEvents::KindOf(key)) {
    case EventKind::kLink:
      return;
    case EventKind::kTimer:
      return OnTimer(PacketEvents::IdOf<QueuePairId>(key));
    case EventKind::kTimeout:
      return OnTimeout(PacketEvents::IdOf<QueuePairId>(key));
    case EventKind::kLinkChange:
      return faults_.OnLinkChange(PacketEvents::IdOf<LinkEventId>(key));
    case EventKind::kReroute:
      return faults_.Reroute(PacketEvents::IdOf<LinkEventId>(key));
    case EventKind::kBackground:
      return OnBackground(PacketEvents::IdOf<BackgroundId>(key));
    case EventKind::kWake:
      return islands_.OnWake(PacketEvents::IdOf<IslandId>(key));
  }
}

// Handles the event of a port: packets are at the far end, or one may leave.
void PacketNetwork::OnLink(LinkId link) {
  Port& port = ports_[link];
  const TimePs time = now();
  if (port.event != time) return;  // The event is stale.
  if (port.is_event_of_wire && !port.is_watched) {
    departures_.Advance(link);
  } else {
    departures_.AdvanceThrough(link);
  }
  // Nothing comes into this port while one of its packets arrives, so the
  // packet need not be copied.
  Port::NextArrival next = port.FirstArrival();
  while (next.time <= time) {
    Lane& lane = port.lane(next.traffic_class);
    if (!port.leaves_zone) Arrive(link, lane.first_on_wire());
    lane.PopFromWire();
    next = port.FirstArrival();
  }
  departures_.ArmAgain(link, port, next.time);
}

// Gives a packet that is at the far end of `link` to the switch, the receiver
// or the sender there.
void PacketNetwork::Arrive(LinkId link, Packet& packet) {
  ++records_.totals().num_packet_hops;
  if (packet.has(Packet::kLost)) {
    records_.CountLoss(link);
    return connections_.Discard(packet);
  }
  if (packet.kind >= PacketKind::kPause) {
    // The frame came against the direction of the link that it pauses.
    return forwarding_.OnPause(Reverse(link),
                               packet.kind == PacketKind::kPause);
  }
  if (!paths_.are_kept()) return FindWay(link, packet);
  GoOn(link, *paths_.FindHop(packet), packet);
}

// Lets a packet go on to link `next`, or ends its way where there is none.
void PacketNetwork::GoOn(LinkId link, LinkId next, Packet& packet) {
  if (next != kNoId<LinkId>) return forwarding_.Forward(link, next, packet);
  if (packet.kind == PacketKind::kData) return receivers_.OnData(packet);
  OnAck(packet);
}

// Lets a packet go on whose queue pair may have changed its path since or never
// had one, or that has left the path.
void PacketNetwork::FindWay(LinkId link, Packet& packet) {
  const NodeId node = ports_[link].target;
  const QueuePair& qp = queue_pairs_[packet.queue_pair];
  const LinkId next = paths_.Next(packet);
  if (next != kNoId<LinkId> && ports_[next].source == node) {
    return GoOn(link, next, packet);
  }
  if (node == (packet.kind == PacketKind::kData ? qp.target : qp.source)) {
    return GoOn(link, kNoId<LinkId>, packet);
  }
  forwarding_.ForwardOffPath(link, packet);
}

void PacketNetwork::OnAck(const Packet& packet) {
  const QueuePairId id = packet.queue_pair;
  departures_.AdvanceSender(id);
  senders_.OnAck(packet);
  departures_.Wake(id);
  if (queue_pairs_[id].is_watched) islands_.OnAck(id);
  connections_.MaybeClose(id);
}

void PacketNetwork::OnTimer(QueuePairId id) {
  if (!senders_.IsTimerDue(id)) return;
  islands_.BeforeTouching(id);
  departures_.AdvanceSender(id);
  senders_.OnTimer(id);
  departures_.Wake(id);
}

void PacketNetwork::OnTimeout(QueuePairId id) {
  if (!senders_.TakeTimeout(id)) return;
  islands_.BeforeTouching(id);
  departures_.AdvanceSender(id);
  if (senders_.OnTimeout(id)) departures_.Wake(id);
}

// Sends the next background message and schedules the one after it.
void PacketNetwork::OnBackground(BackgroundId id) {
  const BackgroundTraffic& traffic = setup_.options.background[id.index()];
  if (now() >= traffic.stop) return;
  MessageState state;
  state.is_background = true;
  Enqueue({.id = MessageId(),
           .source = traffic.source,
           .target = traffic.target,
           .bytes = traffic.bytes,
           .channel = kBackgroundChannel},
          state);
  events_.PushBackground(now() + traffic.interval, id);
}

// Takes the samples that are due before `up_to`.
void PacketNetwork::TakeSamples(TimePs up_to) {
  if (deliveries_.num_in_flight() == 0 && setup_.options.background.empty()) {
    // Ranks only compute, so there is nothing to record.
    return records_.SkipSamples(up_to);
  }
  while (records_.next_sample() < up_to) {
    events_.set_now(records_.next_sample());
    for (uint32_t i = 0; i < ports_.size(); ++i) {
      const LinkId link(i);
      if (ports_[link].queued == Bytes()) continue;
      departures_.Advance(link);
      departures_.Arm(link);
      records_.AddSample(link, ports_[link]);
    }
    for (const QueuePair& qp : queue_pairs_) records_.AddSample(qp);
    records_.EndSample();
  }
}

// Decides for all ports which packets have left them up to now.
void PacketNetwork::AdvanceAll() {
  islands_.CatchUp();
  for (uint32_t i = 0; i < ports_.size(); ++i) {
    departures_.Advance(LinkId(i));
    departures_.Arm(LinkId(i));
  }
  forwarding_.SendPauses();
}

absl::Span<const double> PacketNetwork::link_bytes() {
  AdvanceAll();
  return records_.LinkBytes(ports_);
}

const NetworkStatistics& PacketNetwork::statistics() {
  AdvanceAll();
  return records_.Finish(ports_, now());
}

}  // namespace astra
