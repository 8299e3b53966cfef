#include "network-frontends/packet/packet_replay.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "astra-core/base/units.h"

namespace astra {
namespace {

// One connection that is open, at its NIC.
struct Place {
  LinkId link;
  TurnSlot slot;
  uint32_t position = 0;  // In the list that was asked for.
  bool is_past = false;   // The next turn begins after it.

  friend bool operator<(const Place& a, const Place& b) {
    return std::tie(a.link, a.slot) < std::tie(b.link, b.slot);
  }
};

}  // namespace

bool PacketReplay::IsPossible(const PacketSetup& setup) {
  const PacketOptions& options = setup.options;
  const RecordOptions& record = options.record;
  const auto& types = setup.topology.link_types();
  const bool has_errors =
      options.error_rate > 0 ||
      std::any_of(types.begin(), types.end(),
                  [](const LinkType& type) { return type.error_rate > 0; });
  return options.nic.queue_pairs == QueuePairs::kPerConnection &&
         options.load_balancing == LoadBalancing::kEcmp &&
         options.ecmp_hash == EcmpHash::kMixed && options.link_events.empty() &&
         options.background.empty() && !has_errors && !record.sample_interval &&
         !record.captured_link && !record.flows;
}

bool PacketReplay::AppendPath(const Connection& connection,
                              std::vector<LinkId>* there,
                              std::vector<LinkId>* back) {
  QueuePair qp;
  qp.source = connection.source;
  qp.target = connection.target;
  qp.channel = connection.channel;
  qp.key = parts_.connections.KeyOf(qp.source, qp.target, qp.channel);
  return parts_.paths.Append(qp, Paths::Way::kThere, there) &&
         parts_.paths.Append(qp, Paths::Way::kBack, back);
}

void PacketReplay::AppendShape(LinkId link, std::vector<int64_t>* shape) const {
  const Port& port = parts_.ports[link];
  shape->insert(
      shape->end(),
      {port.nominal_rate.count(), port.propagation.count(),
       int64_t{port.cuts_through}, int64_t{port.marks},
       static_cast<int64_t>(parts_.setup.topology.kind(port.source)),
       static_cast<int64_t>(parts_.setup.topology.kind(port.target))});
  const bool is_at_switch = port.at != kNoId<SwitchId>;
  shape->push_back(is_at_switch ? parts_.buffers.BufferAt(port.at).shared_bytes
                                : 0);
}

Bytes PacketReplay::MostUnderWay(absl::Span<const LinkId> there,
                                 absl::Span<const LinkId> back) const {
  return parts_.paths.MostUnderWay(
      parts_.paths.WindowCapOf(parts_.paths.PropertiesOf(there, back)));
}

// Requires what SharedBuffer::IsEasy asks for, of each of them, whatever the
// others hold.
bool PacketReplay::HasRoomFor(NodeId node, int64_t sum_bytes,
                              int64_t largest_bytes) const {
  const LinkId out = parts_.setup.topology.links_from(node).front();
  const SharedBuffer& buffer = parts_.buffers.BufferAt(parts_.ports[out].at);
  return buffer.StaysEasy(sum_bytes, largest_bytes, parts_.setup.full.count());
}

bool PacketReplay::IsIdle(LinkId link) const {
  const Port& port = parts_.ports[link];
  const bool has_packets =
      std::any_of(port.lanes.begin(), port.lanes.end(),
                  [](const Lane& lane) { return lane.num_packets() > 0; });
  return !has_packets && !parts_.islands.HasStopped(link) &&
         port.event == kNever && !port.is_paused && !port.is_watched &&
         !port.is_down && port.busy_until <= parts_.events.now();
}

bool PacketReplay::IsAtRest(QueuePairId id) const {
  const QueuePair& qp = parts_.queue_pairs[id];
  return qp.acked == qp.end && qp.expected == qp.end && qp.in_network == 0 &&
         qp.turn == QueuePair::Turn::kNone && !qp.has_given_up &&
         !qp.has_mark && qp.num_timeouts == 0 && qp.num_unacked == 0 &&
         qp.next_send <= parts_.events.now() &&
         parts_.setup.control->IsAtRest(id);
}

bool PacketReplay::AreAtRest(absl::Span<const Connection> connections) const {
  return std::all_of(
      connections.begin(), connections.end(), [this](const Connection& c) {
        const QueuePairId id =
            parts_.connections.FindOpen(c.source, c.target, c.channel);
        return id == kNoId<QueuePairId> || IsAtRest(id);
      });
}

bool PacketReplay::HaveUnderWay(
    absl::Span<const Connection> connections) const {
  return std::any_of(
      connections.begin(), connections.end(), [this](const Connection& c) {
        const QueuePairId id =
            parts_.connections.FindOpen(c.source, c.target, c.channel);
        if (id == kNoId<QueuePairId>) return false;
        const QueuePair& qp = parts_.queue_pairs[id];
        return qp.in_network > 0 || qp.acked != qp.end;
      });
}

Turns PacketReplay::TurnsOf(absl::Span<const Connection> connections) const {
  std::vector<Place> places;
  places.reserve(connections.size());
  for (uint32_t i = 0; i < connections.size(); ++i) {
    const auto& [source, target, channel] = connections[i];
    const QueuePairId id = parts_.connections.FindOpen(source, target, channel);
    if (id == kNoId<QueuePairId>) continue;
    const QueuePair& qp = parts_.queue_pairs[id];
    places.push_back({qp.link, qp.turn_slot, i,
                      parts_.nics.IsPast(qp, parts_.ports[qp.link])});
  }
  std::sort(places.begin(), places.end());
  Turns turns;
  for (auto place = places.begin(); place != places.end();) {
    const LinkId link = place->link;
    const size_t head = turns.size();
    turns.push_back(0);
    uint32_t num_past = 0;
    for (; place != places.end() && place->link == link; ++place) {
      turns.push_back(place->position);
      ++turns[head];
      num_past += place->is_past ? 1 : 0;
    }
    turns.push_back(num_past);
  }
  return turns;
}

QueuePairId PacketReplay::Open(const Connection& connection) {
  const auto [id, is_new] =
      parts_.connections.Find({.id = MessageId(),
                               .source = connection.source,
                               .target = connection.target,
                               .bytes = Bytes(),
                               .channel = connection.channel});
  if (is_new) parts_.senders.StartControl(id);
  return id;
}

void PacketReplay::SetTurns(absl::Span<const Connection> connections,
                            const Turns& turns) {
  for (size_t at = 0; at < turns.size();) {
    const uint32_t count = turns[at++];
    const uint32_t num_past = turns[at + count];
    for (uint32_t i = 0; i < count; ++i, ++at) {
      const QueuePairId id = Open(connections[turns[at]]);
      if (i + 1 != num_past) continue;
      const QueuePair& qp = parts_.queue_pairs[id];
      parts_.nics.GoOnAfter(qp, parts_.ports[qp.link]);
    }
    ++at;
  }
}

void PacketReplay::StartMeasuring(absl::Span<const LinkId> links,
                                  absl::Span<const NodeId> switches) {
  before_.start = parts_.events.now();
  before_.links.assign(links.begin(), links.end());
  before_.switches.assign(switches.begin(), switches.end());
  before_.traffic.clear();
  for (const LinkId link : links) {
    before_.traffic.push_back(parts_.ports[link].Traffic());
    parts_.ports[link].max_queued = Bytes();
  }
  for (const NodeId node : switches) {
    const LinkId out = parts_.setup.topology.links_from(node).front();
    parts_.buffers.TakePeak(parts_.ports[out].at);
  }
  parts_.islands.TakeMostTogether();
  before_.totals = CountersOf(parts_.records.totals());
  before_.num_irregular = parts_.records.num_irregular();
}

Measurement PacketReplay::StopMeasuring(
    absl::Span<const Connection> connections) {
  std::vector<MessageId> arrived;  // There are none.
  parts_.islands.CatchUp();
  for (const auto& [source, target, channel] : connections) {
    const QueuePairId id = parts_.connections.FindOpen(source, target, channel);
    while (parts_.queue_pairs[id].in_network > 0) {
      advance_(TimePs(parts_.events.agenda().next().time_ps), &arrived);
    }
  }
  Measurement made = Measure();
  made.turns = TurnsOf(connections);
  made.is_regular = made.is_regular && AreAtRest(connections);
  made.peak_bytes = TakePeaks();
  return made;
}

// Returns the most memory of the measured switches that was in use, or might
// have been: what islands held while they had stopped was not seen together.
std::vector<int64_t> PacketReplay::TakePeaks() {
  std::vector<int64_t> peaks;
  const int64_t most_together = parts_.islands.TakeMostTogether();
  for (const NodeId node : before_.switches) {
    int64_t longest_queues = 0;
    for (const LinkId link : before_.links) {
      const Port& port = parts_.ports[link];
      if (port.source == node) longest_queues += port.max_queued.count();
    }
    const LinkId out = parts_.setup.topology.links_from(node).front();
    const int64_t peak = parts_.buffers.TakePeak(parts_.ports[out].at);
    peaks.push_back(most_together == 1
                        ? peak
                        : std::min(most_together * peak, longest_queues));
  }
  return peaks;
}

Measurement PacketReplay::Measure() {
  parts_.islands.CatchUp();
  Measurement made;
  made.quiet = parts_.events.now() - before_.start;
  for (size_t i = 0; i < before_.links.size(); ++i) {
    const Port& port = parts_.ports[before_.links[i]];
    LinkTraffic& traffic = made.links.emplace_back();
    traffic.AddBetween(before_.traffic[i], port.Traffic(), 1);
    traffic.max_queued = port.max_queued;
  }
  MeasureCounters(before_.totals, parts_.records.totals(), &made);
  made.is_regular = parts_.records.num_irregular() == before_.num_irregular;
  return made;
}

std::vector<LinkTraffic> PacketReplay::TrafficOf(
    absl::Span<const LinkId> links) {
  parts_.islands.CatchUp();
  std::vector<LinkTraffic> traffic;
  traffic.reserve(links.size());
  for (const LinkId link : links) {
    traffic.push_back(parts_.ports[link].Traffic());
  }
  return traffic;
}

std::optional<uint64_t> PacketReplay::StateOf(
    absl::Span<const Connection> connections, absl::Span<const LinkId> links,
    const std::function<uint64_t(MessageId)>& label) {
  parts_.islands.CatchUp();
  StateHash state;
  absl::flat_hash_map<uint32_t, int64_t> place;  // For look-up only.
  for (size_t i = 0; i < connections.size(); ++i) {
    const auto& [source, target, channel] = connections[i];
    const QueuePairId id = parts_.connections.FindOpen(source, target, channel);
    const bool is_open = id != kNoId<QueuePairId>;
    state.Add(int64_t{is_open});
    if (!is_open) continue;
    place[id.index()] = static_cast<int64_t>(i);
    AddQueuePair(parts_.queue_pairs[id], label, &state);
  }
  bool has_others = false;
  const auto place_of = [&](QueuePairId id) {
    const auto found = place.find(id.index());
    if (found != place.end()) return found->second;
    has_others = true;
    return int64_t{-1};
  };
  for (const LinkId link : links) {
    Port& port = parts_.ports[link];
    AddPort(port, parts_.nics.HasSender(port), parts_.queue_pairs,
            parts_.events.now(), place_of, &state);
  }
  if (has_others) return std::nullopt;
  for (const uint32_t number : TurnsOf(connections)) state.Add(number);
  return state.hash();
}

void PacketReplay::AddQueuePair(const QueuePair& qp,
                                const std::function<uint64_t(MessageId)>& label,
                                StateHash* state) const {
  AddPointers(qp, parts_.events.now(), parts_.ports[qp.link].busy_until, state);
  state->AddNumber(qp.end, qp.acked);
  state->Add(int64_t{qp.sending != kNoId<MessageSlot>});
  const Completion completion = parts_.setup.options.nic.completion;
  for (MessageSlot slot = qp.oldest; slot != kNoId<MessageSlot>;
       slot = parts_.messages[slot].next) {
    const MessageState& message = parts_.messages[slot];
    state->AddNumber(message.first, qp.acked);
    state->Add(message.num_packets);
    state->Add(message.last_payload);
    // What has arrived and lacks its acknowledgement has no id any more.
    const bool has_arrived =
        completion == Completion::kDelivered && message.end() <= qp.expected;
    state->Add(has_arrived ? -1 : static_cast<int64_t>(label(message.id)));
    // What will be logged of a message depends on when it was sent.
    if (!has_arrived) state->AddAge(message.start, parts_.events.now());
    state->Add(int64_t{slot == qp.receiving} + 2 * int64_t{slot == qp.sending});
  }
}

void PacketReplay::CountSimulated(uint64_t packet_hops, uint64_t events) {
  NetworkStatistics& totals = parts_.records.totals();
  totals.num_replayed_hops -= std::min(totals.num_replayed_hops, packet_hops);
  totals.num_events += events;
}

void PacketReplay::GoBackTo(TimePs time, absl::Span<const LinkId> links) {
  parts_.islands.CatchUp();
  parts_.events.GoBackTo(time);
  // Stale events may have looked at these idle ports since.
  for (const LinkId link : links) {
    Port& port = parts_.ports[link];
    port.busy_until = std::min(port.busy_until, time);
  }
}

void PacketReplay::Return() {
  parts_.islands.CatchUp();
  parts_.events.Return();
}

void PacketReplay::Replay(const Measurement& measured,
                          absl::Span<const LinkId> links,
                          absl::Span<const Connection> connections) {
  for (size_t i = 0; i < links.size(); ++i) {
    AddTraffic(measured.links[i], &parts_.ports[links[i]]);
  }
  AddCounters(measured, &parts_.records.totals());
  SetTurns(connections, measured.turns);
}

}  // namespace astra
