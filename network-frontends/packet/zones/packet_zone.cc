#include "network-frontends/packet/zones/packet_zone.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "astra-core/base/units.h"
#include "network-frontends/packet/connections.h"
#include "network-frontends/packet/deliveries.h"
#include "network-frontends/packet/departures.h"
#include "network-frontends/packet/packet_events.h"
#include "network-frontends/packet/paths.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/records.h"
#include "network-frontends/packet/senders.h"

namespace astra {
namespace {

// Returns the number of the first packet on the wire that the zone at its end
// does not know of. Those are the last.
uint32_t FirstNew(Lane& lane) {
  uint32_t first = lane.num_on_wire();
  while (first > 0 && !lane.at(first - 1).has(Packet::kHandedOver)) --first;
  return first;
}

}  // namespace

PacketZone::PacketZone(const Topology& topology, const PacketOptions& options,
                       const Zoning& zoning, ZoneId id)
    : zoning_(zoning),
      id_(id),
      network_(std::make_unique<PacketNetwork>(topology, options)),
      parts_(network_->parts()),
      known_(zoning.num_zones),
      news_(zoning.num_zones) {
  for (uint32_t i = 0; i < topology.links().size(); ++i) {
    const Link& link = topology.link(LinkId(i));
    if (ZoneOf(link.source) != id_ || ZoneOf(link.target) == id_) continue;
    links_out_.emplace_back(i);
    parts_.ports[LinkId(i)].leaves_zone = true;
  }
}

void PacketZone::Send(const Message& message) {
  const ZoneId target = ZoneOf(message.target);
  if (target == id_) {
    network_->Send(message);
  } else {
    network_->SendAway(message);
  }
  // Queue pairs are kept, so one that has no name yet is new, and the last.
  if (names_.size() < parts_.queue_pairs.size()) {
    Announce(QueuePairId(static_cast<uint32_t>(names_.size())));
  }
  if (target == id_) return;
  const QueuePairId id = parts_.connections.FindOpen(
      message.source, message.target, message.channel);
  news_[target.index()].sent.push_back({{id_, id}, message});
}

// Gives a new queue pair a name, and tells all zones on its path of it.
void PacketZone::Announce(QueuePairId id) {
  names_.push_back({id_, id});
  known_[id_.index()].resize(id.index() + 1, kNoId<QueuePairId>);
  known_[id_.index()][id.index()] = id;
  const QueuePair& qp = parts_.queue_pairs[id];
  std::vector<ZoneId> passed;
  for (const Paths::Way way : {Paths::Way::kThere, Paths::Way::kBack}) {
    const LinkId* link = parts_.paths.Find(id, way);
    for (; *link != kNoId<LinkId>; ++link) {
      passed.push_back(ZoneOf(parts_.ports[*link].target));
    }
  }
  std::sort(passed.begin(), passed.end());
  passed.erase(std::unique(passed.begin(), passed.end()), passed.end());
  for (const ZoneId zone : passed) {
    if (zone == id_) continue;
    news_[zone.index()].opened.push_back(
        {{id_, id}, qp.source, qp.target, qp.channel, qp.key});
  }
}

TimePs PacketZone::HandOver(absl::Span<Mailbox> mailboxes) {
  for (uint32_t i = 0; i < mailboxes.size(); ++i) {
    mailboxes[i].Clear();
    mailboxes[i].opened.swap(news_[i].opened);
    mailboxes[i].sent.swap(news_[i].sent);
  }
  // To look at the next event would open its bucket, and what arrives before it
  // would take a slow way.
  const Agenda& agenda = parts_.events.agenda();
  TimePs next = agenda.empty() ? kNever : TimePs(agenda.NotBefore());
  for (const LinkId link : links_out_) {
    const ZoneId zone = ZoneOf(parts_.ports[link].target);
    next = std::min(next, HandOverLink(link, &mailboxes[zone.index()]));
  }
  return next;
}

// Hands over what has left for another zone. It stays on the wire here, too, so
// that the port has its events at the same instants as in one zone. Returns
// when the first of it arrives or, if that is earlier, when more may leave.
TimePs PacketZone::HandOverLink(LinkId link, Mailbox* mailbox) {
  Port& port = parts_.ports[link];
  parts_.departures.Advance(link);
  TimePs next = parts_.departures.NextStart(port);
  std::array<uint32_t, kNumTrafficClasses> first{};
  for (size_t i = 0; i < first.size(); ++i) first[i] = FirstNew(port.lanes[i]);
  // In the order of arrival, for which the other zone relies on the first; of
  // one instant by class.
  while (true) {
    std::optional<size_t> earliest;
    TimePs arrival = kNever;
    for (size_t i = 0; i < first.size(); ++i) {
      Lane& lane = port.lanes[i];
      if (first[i] == lane.num_on_wire()) continue;
      if (lane.at(first[i]).time >= arrival) continue;
      arrival = lane.at(first[i]).time;
      earliest = i;
    }
    if (!earliest) return next;
    Packet& packet = port.lanes[*earliest].at(first[*earliest]++);
    Mailbox::Crossing& crossing = mailbox->crossings.emplace_back();
    crossing.packet = packet;
    packet.flags |= Packet::kHandedOver;
    crossing.link = link;
    crossing.traffic_class = static_cast<TrafficClass>(*earliest);
    next = std::min(next, arrival);
    NameQueuePair(&crossing, mailbox);
  }
}

// Writes what the packet refers to so that the other zone understands it.
void PacketZone::NameQueuePair(Mailbox::Crossing* crossing, Mailbox* mailbox) {
  Packet& packet = crossing->packet;
  if (packet.queue_pair == kNoId<QueuePairId>) return;
  const QueuePairName& name = names_[packet.queue_pair.index()];
  crossing->home = name.home;
  packet.queue_pair = name.id;
  if (packet.telemetry == kNoId<TelemetryId>) return;
  mailbox->telemetry.push_back(parts_.telemetry[packet.telemetry]);
  parts_.telemetry.Free(packet.telemetry);
  packet.telemetry =
      TelemetryId(static_cast<uint32_t>(mailbox->telemetry.size() - 1));
}

void PacketZone::TakeIn(const Mailbox& mailbox) {
  for (const Mailbox::Opened& opened : mailbox.opened) TakeIn(opened);
  for (const Mailbox::Sent& sent : mailbox.sent) TakeIn(sent);
  for (const Mailbox::Crossing& crossing : mailbox.crossings) {
    TakeIn(crossing, mailbox.telemetry);
  }
}

void PacketZone::TakeIn(const Mailbox::Opened& opened) {
  std::vector<QueuePairId>& known = known_[opened.name.home.index()];
  if (known.size() <= opened.name.id.index()) {
    known.resize(opened.name.id.index() + 1, kNoId<QueuePairId>);
  }
  known[opened.name.id.index()] = parts_.connections.OpenFarEnd(
      opened.source, opened.target, opened.channel, opened.key);
  names_.push_back(opened.name);
}

void PacketZone::TakeIn(const Mailbox::Sent& sent) {
  const QueuePairName& name = sent.queue_pair;
  const QueuePairId id = known_[name.home.index()][name.id.index()];
  ForgetReceived(id);
  MessageState state;
  parts_.deliveries.Expect(sent.message, &state);
  parts_.senders.Enqueue(id, sent.message, state);
}

void PacketZone::TakeIn(const Mailbox::Crossing& crossing,
                        absl::Span<const TelemetrySlot> telemetry) {
  Lane& lane = parts_.ports[crossing.link].lane(crossing.traffic_class);
  Packet& packet = lane.Append(parts_.ports.array().memory());
  packet = crossing.packet;
  lane.PutOnWire();
  parts_.departures.Arm(crossing.link);
  if (packet.queue_pair == kNoId<QueuePairId>) return;
  packet.queue_pair = known_[crossing.home.index()][packet.queue_pair.index()];
  if (packet.telemetry == kNoId<TelemetryId>) return;
  const TelemetrySlot& slot = telemetry[packet.telemetry.index()];
  packet.telemetry = parts_.telemetry.Take();
  parts_.telemetry[packet.telemetry] = slot;
}

// Frees the messages that the receiving end of a queue pair has delivered. In
// the home zone acknowledgements do that.
void PacketZone::ForgetReceived(QueuePairId id) {
  QueuePair& qp = parts_.queue_pairs[id];
  while (qp.oldest != qp.receiving && qp.oldest != kNoId<MessageSlot>) {
    const MessageSlot done = qp.oldest;
    qp.oldest = parts_.messages[done].next;
    parts_.messages.Free(done);
  }
  qp.sending = qp.oldest;
  if (qp.oldest == kNoId<MessageSlot>) qp.newest = kNoId<MessageSlot>;
}

}  // namespace astra
