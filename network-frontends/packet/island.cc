#include "network-frontends/packet/island.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "network-frontends/packet/network_state.h"
#include "network-frontends/packet/nics.h"
#include "network-frontends/packet/packet_events.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/paths.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/records.h"
#include "network-frontends/packet/senders.h"

namespace astra {
namespace {

// The last packet of a message differs from the others: it may be shorter, and
// asks for an acknowledgement. So many before it are simulated to be safe.
constexpr uint32_t kMargin = 2;
// A message with fewer packets to come is not worth a look.
constexpr uint32_t kFewPackets = 12;

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

// Adds a number of bytes that may be the largest that there is.
void AddUpTo(int64_t bytes, int64_t* sum) {
  *sum = bytes > INT64_MAX - *sum ? INT64_MAX : *sum + bytes;
}

void Move(TimePs by, TimePs* time) {
  if (*time != kNever) *time += by;
}

}  // namespace

Island::Island(const NetworkParts& parts, std::vector<QueuePairId> queue_pairs,
               std::vector<LinkId> links)
    : parts_(parts),
      queue_pairs_(std::move(queue_pairs)),
      links_(std::move(links)) {
  std::sort(queue_pairs_.begin(), queue_pairs_.end());
  std::sort(links_.begin(), links_.end());
}

QueuePairId Island::FindSteadySender() const {
  for (const LinkId link : links_) {
    const Port& port = parts_.ports[link];
    if (port.is_paused || port.is_watched) return kNoId<QueuePairId>;
  }
  QueuePairId sender = kNoId<QueuePairId>;
  uint32_t most = 0;
  for (const QueuePairId id : queue_pairs_) {
    const QueuePair& qp = parts_.queue_pairs[id];
    const bool has_timer = qp.timer != kNever || qp.send_window != nullptr;
    if (has_timer || !parts_.setup.control->IsAtRest(id) ||
        !IsWithinMessage(qp, parts_.messages)) {
      return kNoId<QueuePairId>;
    }
    const uint32_t left = PacketsLeft(qp, parts_.messages);
    if (left < kFewPackets) return kNoId<QueuePairId>;
    if (left <= most) continue;
    most = left;
    sender = id;
  }
  return sender;
}

// Neither the windows of queue pairs nor the longest queue that a port ever had
// are passed: what comes again has come before.
std::vector<Island::Hold> Island::Holds() const {
  // By switch, link that leads to it, and link that leads away from it; and by
  // the latter alone.
  std::map<std::tuple<SwitchId, LinkId, LinkId>, int64_t> windows;
  std::map<LinkId, int64_t> windows_of_port;
  for (const QueuePairId id : queue_pairs_) {
    const int64_t most =
        parts_.paths.MostUnderWay(parts_.queue_pairs[id].window_cap).count();
    for (const Paths::Way way : {Paths::Way::kThere, Paths::Way::kBack}) {
      // A packet takes no memory where its path begins.
      const LinkId* link = parts_.paths.Find(id, way) + 1;
      for (; *link != kNoId<LinkId>; ++link) {
        const SwitchId at = parts_.ports[*link].at;
        if (at == kNoId<SwitchId>) continue;
        AddUpTo(most, &windows[{at, *(link - 1), *link}]);
        AddUpTo(most, &windows_of_port[*link]);
      }
    }
  }
  const auto most_at_port = [&](LinkId link) {
    return std::min(windows_of_port.at(link),
                    parts_.ports[link].max_queued.count());
  };
  std::map<SwitchId, Hold> holds;
  std::map<LinkId, int64_t> most_of_link;
  for (const auto& [place, bytes] : windows) {
    const auto& [at, in, out] = place;
    Hold& hold = holds[at];
    hold.at = at;
    AddUpTo(std::min(bytes, most_at_port(out)), &most_of_link[in]);
    hold.largest_bytes =
        std::max({hold.largest_bytes, most_of_link[in], most_at_port(out)});
  }
  for (const auto& [link, _] : windows_of_port) {
    const Port& port = parts_.ports[link];
    holds[port.at].more_bytes +=
        std::max<int64_t>(0, most_at_port(link) - port.queued.count());
  }
  std::vector<Hold> all;
  all.reserve(holds.size());
  for (const auto& [_, hold] : holds) all.push_back(hold);
  return all;
}

Island::Look Island::TakeLook() const {
  const TimePs now = parts_.events.now();
  Look look;
  look.time = now;
  StateHash state;
  state.Add(static_cast<int64_t>(parts_.records.num_irregular()));
  for (const QueuePairId id : queue_pairs_) {
    const QueuePair& qp = parts_.queue_pairs[id];
    const Port& port = parts_.ports[qp.link];
    look.acked.push_back(qp.acked);
    look.left.push_back(0);
    AddPointers(qp, now, port.busy_until, &state);
    state.Add(qp.sending.index());
    state.Add(qp.receiving.index());
    state.Add(qp.oldest.index());
    state.Add(int64_t{parts_.nics.IsPast(qp, port)});
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
    look.queued.push_back(port.queued);
  }
  look.state = state.hash();
  return look;
}

bool Island::IsSteady(const Look& first, const Look& second, const Look& third,
                      Bytes packet) {
  for (size_t i = 0; i < third.acked.size(); ++i) {
    const auto before =
        int64_t{second.acked[i].index()} - first.acked[i].index();
    const auto now = int64_t{third.acked[i].index()} - second.acked[i].index();
    if (std::abs(now - 2 * before) > 2) return false;
  }
  for (size_t i = 0; i < third.queued.size(); ++i) {
    const Bytes more = third.queued[i] - second.queued[i];
    if (more > packet || -1 * more > packet) return false;
  }
  return true;
}

int64_t Island::TimesUntilEnd(const Look& before, const Look& now) {
  int64_t times = 0;
  for (size_t i = 0; i < now.acked.size(); ++i) {
    const uint32_t moved = now.acked[i].index() - before.acked[i].index();
    if (moved == 0) continue;
    const int64_t of_one = now.left[i] / moved;
    times = times == 0 ? of_one : std::min(times, of_one);
    if (times == 0) break;
  }
  return times;
}

void Island::Stop() {
  events_.clear();
  timeouts_.clear();
  for (const LinkId link : links_) {
    events_.push_back(std::exchange(parts_.ports[link].event, kNever));
  }
  for (size_t i = 0; i < queue_pairs_.size(); ++i) {
    timeouts_.push_back(std::exchange(At(i).timeout, kNever));
  }
}

std::vector<Agenda::Entry> Island::GoOn(const Look& before, const Look& now,
                                        int64_t times) {
  const TimePs by = times * (now.time - before.time);
  if (times > 0) {
    MovePackets(before, now, times);
    Count(before, now, times);
  }
  std::vector<Agenda::Entry> pending;
  for (size_t i = 0; i < queue_pairs_.size(); ++i) {
    QueuePair& qp = At(i);
    qp.timeout = timeouts_[i];
    for (TimePs* time : {&qp.next_send, &qp.sent, &qp.progress, &qp.timeout}) {
      Move(by, time);
    }
    if (qp.timeout == kNever) continue;
    pending.push_back(PacketEvents::TimeoutAt(qp.timeout, queue_pairs_[i]));
  }
  for (size_t i = 0; i < links_.size(); ++i) {
    Port& port = parts_.ports[links_[i]];
    port.event = events_[i];
    Move(by, &port.busy_until);
    Move(by, &port.event);
    for (Lane& lane : port.lanes) {
      for (uint32_t p = 0; p < lane.num_packets(); ++p) lane.at(p).time += by;
    }
    parts_.nics.MoveTurns(port, by);
    if (port.event == kNever) continue;
    pending.push_back(PacketEvents::LinkAt(port.event, links_[i]));
  }
  return pending;
}

void Island::MovePackets(const Look& before, const Look& now, int64_t times) {
  absl::flat_hash_map<uint32_t, uint64_t> moved;  // For look-up only.
  for (size_t i = 0; i < queue_pairs_.size(); ++i) {
    const uint32_t once = now.acked[i].index() - before.acked[i].index();
    moved[queue_pairs_[i].index()] = static_cast<uint64_t>(times) * once;
  }
  for (const LinkId link : links_) {
    for (Lane& lane : parts_.ports[link].lanes) {
      for (uint32_t i = 0; i < lane.num_packets(); ++i) {
        Packet& packet = lane.at(i);
        packet.number = Later(packet.number, moved[packet.queue_pair.index()]);
      }
    }
  }
  for (const QueuePairId id : queue_pairs_) {
    QueuePair& qp = parts_.queue_pairs[id];
    const uint64_t packets = moved[id.index()];
    for (PacketNumber* number :
         {&qp.next, &qp.acked, &qp.highest, &qp.expected}) {
      *number = Later(*number, packets);
    }
    const auto payload = static_cast<uint64_t>(parts_.setup.payload.count());
    qp.sent_bytes += packets * payload;
    qp.acked_bytes += packets * payload;
  }
}

// What comes between two looks that are alike is full packets, each of which is
// acknowledged, or counts for an acknowledgement, within the same time.
void Island::Count(const Look& before, const Look& now, int64_t times) {
  NetworkStatistics& totals = parts_.records.totals();
  for (size_t i = 0; i < links_.size(); ++i) {
    LinkTraffic traffic;
    traffic.AddBetween(before.traffic[i], now.traffic[i], times);
    AddTraffic(traffic, &parts_.ports[links_[i]]);
    totals.num_packet_hops += traffic.packets;
    totals.num_replayed_hops += traffic.packets;
  }
  for (size_t i = 0; i < queue_pairs_.size(); ++i) {
    const QueuePair& qp = At(i);
    const int64_t packets =
        times * (now.acked[i].index() - before.acked[i].index());
    totals.num_data_packets += static_cast<uint64_t>(packets);
    parts_.senders.CountPace(qp, parts_.ports[qp.link], packets);
  }
}

}  // namespace astra
