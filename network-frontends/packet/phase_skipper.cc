#include "network-frontends/packet/phase_skipper.h"

#include <algorithm>
#include <utility>

#include "network-frontends/packet/deliveries.h"
#include "network-frontends/packet/network_state.h"
#include "network-frontends/packet/nics.h"
#include "network-frontends/packet/packet_events.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/records.h"

namespace astra {
namespace {

// The last packet of a message differs from the others: it may be shorter, and
// asks for an acknowledgement. So many before it are simulated to be safe.
constexpr uint32_t kMargin = 2;
// A message with fewer packets to come is not worth a look.
constexpr uint32_t kFewPackets = 12;
constexpr uint32_t kMostLooks = 24;

// Returns whether all that a queue pair sends, has under way and receives
// belongs to one message.
bool IsWithinMessage(const QueuePair& qp, const MessagePool& messages) {
  if (qp.sending == kNoId<MessageSlot> || qp.sending != qp.oldest ||
      qp.receiving != qp.sending) {
    return false;
  }
  const MessageState& message = messages[qp.sending];
  return message.first <= qp.acked && message.first <= qp.expected;
}

// Requires IsWithinMessage(). Returns how many packets a queue pair can send
// before it matters where its message ends.
uint32_t PacketsLeft(const QueuePair& qp, const MessagePool& messages) {
  const MessageState& message = messages[qp.sending];
  const uint32_t left = message.end().index() - qp.next.index();
  return left > kMargin ? left - kMargin : 0;
}

PacketNumber Later(PacketNumber packet, uint64_t by) {
  return PacketNumber(packet.index() + static_cast<uint32_t>(by));
}

void Move(TimePs by, TimePs* time) {
  if (*time != kNever) *time += by;
}

}  // namespace

void PhaseSkipper::Begin(absl::Span<const LinkId> links) {
  constexpr int64_t kPackets = 32;
  links_.assign(links.begin(), links.end());
  shortest_wait_ = TimePs(1);
  for (const LinkId link : links) {
    shortest_wait_ =
        std::max(shortest_wait_,
                 kPackets * parts_.ports[link].Divide(parts_.setup.full));
  }
  wait_ = shortest_wait_;
}

void PhaseSkipper::AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) {
  const PacketEvents& events = parts_.events;
  while (parts_.deliveries.num_in_flight() > 0 && !events.agenda().empty() &&
         limit - events.now() > wait_) {
    advance_(events.now() + wait_, arrived);
    const bool has_skipped = arrived->empty() && TryToSkip(limit, arrived);
    const bool has_arrivals = !arrived->empty();
    wait_ = has_skipped || has_arrivals ? shortest_wait_ : 2 * wait_;
    if (has_arrivals) return;
  }
  advance_(limit, arrived);
}

// Goes from one acknowledgement to the next, and skips what comes between two
// that are alike. Returns whether there were any.
bool PhaseSkipper::TryToSkip(TimePs limit, std::vector<MessageId>* arrived) {
  const std::optional<QueuePairId> sender = FindSteadySender();
  if (!sender || !AdvanceToAck(*sender, limit, arrived)) return false;
  Look before = TakeLook();
  // The state that others are compared with is replaced after 1, 2, 4... looks.
  uint32_t last = 1;
  for (uint32_t i = 1; i <= kMostLooks; ++i) {
    if (!AdvanceToAck(*sender, limit, arrived)) return false;
    Look now = TakeLook();
    if (now.state == before.state && now.time > before.time) {
      const int64_t times = TimesWithin(before, now, limit);
      if (times > 0) Skip(before, now, times);
      return times > 0;
    }
    if (i != last) continue;
    before = std::move(now);
    last *= 2;
  }
  return false;
}

// Returns the queue pair that can go on longest, if it can for long enough and
// nothing but acknowledgements and departures happens: no timer runs, and
// congestion control is at rest.
std::optional<QueuePairId> PhaseSkipper::FindSteadySender() const {
  std::optional<QueuePairId> sender;
  uint32_t most = 0;
  for (uint32_t i = 0; i < parts_.queue_pairs.size(); ++i) {
    const QueuePair& qp = parts_.queue_pairs[QueuePairId(i)];
    if (!qp.is_open || qp.acked == qp.end) continue;
    const bool has_timer = qp.timer != kNever || qp.send_window != nullptr;
    if (has_timer || !parts_.setup.control->IsAtRest(QueuePairId(i))) {
      return std::nullopt;
    }
    if (!IsWithinMessage(qp, parts_.messages)) continue;
    const uint32_t left = PacketsLeft(qp, parts_.messages);
    if (left < kFewPackets || left <= most) continue;
    most = left;
    sender = QueuePairId(i);
  }
  return sender;
}

// Goes on to the next acknowledgement at a queue pair. Returns false if it has
// not come by `limit`, or if messages have arrived.
bool PhaseSkipper::AdvanceToAck(QueuePairId id, TimePs limit,
                                std::vector<MessageId>* arrived) {
  Agenda& agenda = parts_.events.agenda();
  const PacketNumber acked = parts_.queue_pairs[id].acked;
  while (parts_.queue_pairs[id].acked == acked) {
    if (agenda.empty()) return false;
    const TimePs next(agenda.next().time_ps);
    if (next >= limit) return false;
    advance_(next, arrived);
    if (!arrived->empty()) return false;
  }
  return true;
}

// The state leaves out timers and congestion control, which FindSteadySender()
// has found at rest, and all that only counts. How far a queue pair is within
// its message may differ; elsewhere it must not.
PhaseSkipper::Look PhaseSkipper::TakeLook() {
  const TimePs now = parts_.events.now();
  Look look;
  look.time = now;
  StateHash state;
  state.Add(static_cast<int64_t>(parts_.records.num_irregular()));
  for (uint32_t i = 0; i < parts_.queue_pairs.size(); ++i) {
    const QueuePair& qp = parts_.queue_pairs[QueuePairId(i)];
    look.acked.push_back(qp.acked);
    look.left.push_back(0);
    if (!qp.is_open || qp.link == kNoId<LinkId>) continue;
    AddPointers(qp, now, parts_.ports[qp.link].busy_until, &state);
    state.Add(qp.sending.index());
    state.Add(qp.receiving.index());
    state.Add(qp.oldest.index());
    state.Add(int64_t{parts_.nics.IsPast(qp, parts_.ports[qp.link])});
    if (IsWithinMessage(qp, parts_.messages)) {
      look.left.back() = PacketsLeft(qp, parts_.messages);
    } else if (qp.oldest != kNoId<MessageSlot>) {
      state.AddNumber(parts_.messages[qp.oldest].first, qp.acked);
      state.AddNumber(qp.end, qp.acked);
    }
  }
  const auto place_of = [](QueuePairId id) { return int64_t{id.index()}; };
  for (const LinkId link : links_) {
    Port& port = parts_.ports[link];
    AddPort(port, parts_.nics.HasSender(port), parts_.queue_pairs, now,
            place_of, &state);
    look.traffic.push_back(port.Traffic());
  }
  look.state = state.hash();
  const NetworkStatistics& totals = parts_.records.totals();
  look.num_data_packets = totals.num_data_packets;
  look.num_packet_hops = totals.num_packet_hops;
  look.sending = totals.sending;
  look.sending_slowly = totals.sending_slowly;
  return look;
}

// Returns how often what came between two looks can come again before a message
// ends, or before `limit`.
int64_t PhaseSkipper::TimesWithin(const Look& before, const Look& now,
                                  TimePs limit) const {
  int64_t times = (limit - now.time).count() / (now.time - before.time).count();
  for (size_t i = 0; i < now.acked.size(); ++i) {
    const uint32_t moved = now.acked[i].index() - before.acked[i].index();
    if (moved > 0) times = std::min<int64_t>(times, now.left[i] / moved);
  }
  return times;
}

void PhaseSkipper::Skip(const Look& before, const Look& now, int64_t times) {
  const TimePs by = times * (now.time - before.time);
  MovePackets(before, now, times);
  CountTraffic(before, now, times);
  for (uint32_t i = 0; i < parts_.queue_pairs.size(); ++i) {
    QueuePair& qp = parts_.queue_pairs[QueuePairId(i)];
    for (TimePs* time : {&qp.next_send, &qp.sent, &qp.progress, &qp.timeout}) {
      Move(by, time);
    }
  }
  for (const LinkId link : links_) {
    Port& port = parts_.ports[link];
    Move(by, &port.busy_until);
    Move(by, &port.event);
    for (Lane& lane : port.lanes) {
      for (uint32_t i = 0; i < lane.num_packets(); ++i) lane.at(i).time += by;
    }
  }
  parts_.nics.MoveTurns(by);
  parts_.events.MoveOn(by);
}

void PhaseSkipper::MovePackets(const Look& before, const Look& now,
                               int64_t times) {
  const auto moved = [&](uint32_t qp) {
    return static_cast<uint64_t>(times) *
           (now.acked[qp].index() - before.acked[qp].index());
  };
  for (const LinkId link : links_) {
    for (Lane& lane : parts_.ports[link].lanes) {
      for (uint32_t i = 0; i < lane.num_packets(); ++i) {
        Packet& packet = lane.at(i);
        if (packet.queue_pair == kNoId<QueuePairId>) continue;
        packet.number = Later(packet.number, moved(packet.queue_pair.index()));
      }
    }
  }
  for (uint32_t i = 0; i < now.acked.size(); ++i) {
    QueuePair& qp = parts_.queue_pairs[QueuePairId(i)];
    const uint64_t packets = moved(i);
    for (PacketNumber* number :
         {&qp.next, &qp.acked, &qp.highest, &qp.expected}) {
      *number = Later(*number, packets);
    }
    const auto payload = static_cast<uint64_t>(parts_.setup.payload.count());
    qp.sent_bytes += packets * payload;
    qp.acked_bytes += packets * payload;
  }
}

void PhaseSkipper::CountTraffic(const Look& before, const Look& now,
                                int64_t times) {
  const auto factor = static_cast<uint64_t>(times);
  for (size_t i = 0; i < links_.size(); ++i) {
    LinkTraffic traffic;
    traffic.AddBetween(before.traffic[i], now.traffic[i], times);
    AddTraffic(traffic, &parts_.ports[links_[i]]);
  }
  NetworkStatistics& totals = parts_.records.totals();
  const uint64_t hops = factor * (now.num_packet_hops - before.num_packet_hops);
  totals.num_packet_hops += hops;
  totals.num_replayed_hops += hops;
  totals.num_data_packets +=
      factor * (now.num_data_packets - before.num_data_packets);
  totals.sending += times * (now.sending - before.sending);
  totals.sending_slowly += times * (now.sending_slowly - before.sending_slowly);
}

}  // namespace astra
