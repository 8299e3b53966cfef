#include "workload/traces/deadlock.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "astra-core/base/names.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Nodes of a rank with the same stream run one after another.
using Stream = std::tuple<TraceNodeKind, uint32_t, int64_t>;

Stream StreamOf(const TraceNode& node) {
  switch (node.kind) {
    case TraceNodeKind::kCollective:
      return {node.kind, node.group.index(), 0};
    case TraceNodeKind::kSend:
    case TraceNodeKind::kReceive:
      return {node.kind, node.peer.index(), node.tag};
    case TraceNodeKind::kMark:
    case TraceNodeKind::kCompute:
    case TraceNodeKind::kHost:
    case TraceNodeKind::kMemory:
      break;
  }
  return {node.kind, 0, 0};
}

// What the streams of several ranks have in common whose nodes meet: a group,
// or sender, receiver and tag.
using Meeting = std::tuple<bool, uint32_t, uint32_t, int64_t>;

std::optional<Meeting> MeetingOf(uint32_t rank, const TraceNode& node) {
  switch (node.kind) {
    case TraceNodeKind::kCollective:
      return Meeting(false, node.group.index(), 0, 0);
    case TraceNodeKind::kSend:
      return Meeting(true, rank, node.peer.index(), node.tag);
    case TraceNodeKind::kReceive:
      return Meeting(true, node.peer.index(), rank, node.tag);
    case TraceNodeKind::kMark:
    case TraceNodeKind::kCompute:
    case TraceNodeKind::kHost:
    case TraceNodeKind::kMemory:
      break;
  }
  return std::nullopt;
}

// The part of one rank in an exchange.
struct Call {
  uint32_t rank = 0;
  uint32_t node = 0;  // Position in its rank.
};

// A collective or a message.
struct Exchange {
  std::vector<Call> calls;
  uint32_t num_begun = 0;

  bool has_ended() const { return num_begun == calls.size(); }
};

// How far a rank has come. All vectors but `followers` are by node.
struct RankPlay {
  std::vector<uint32_t> previous;     // The one before on its stream, or kNone.
  std::vector<uint32_t> exchange;     // kNone of what a rank does alone.
  std::vector<uint32_t> num_missing;  // What has to end before it begins.
  std::vector<bool> has_ended;
  std::vector<uint32_t> first_follower;  // In `followers`; one more than nodes.
  std::vector<uint32_t> followers;

  bool HasBegun(uint32_t node) const { return num_missing[node] == 0; }
};

// Plays a trace as far as it goes.
class Play {
 public:
  explicit Play(const ExecutionTrace& trace) : trace_(trace) {
    for (uint32_t r = 0; r < trace.ranks.size(); ++r) AddRank(r);
  }

  // Returns whether all nodes have ended.
  bool ToTheEnd() {
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      for (uint32_t node = 0; node < ranks_[r].num_missing.size(); ++node) {
        if (ranks_[r].HasBegun(node)) begun_.push_back({r, node});
      }
    }
    size_t num_ended = 0;
    while (!begun_.empty()) {
      const Call call = begun_.back();
      begun_.pop_back();
      num_ended += Begin(call);
    }
    return num_ended == trace_.num_nodes();
  }

  const std::vector<Exchange>& exchanges() const { return exchanges_; }
  const RankPlay& rank(uint32_t rank) const { return ranks_[rank]; }

  // Calls `visit` with each node that has to end before `node` begins and has
  // not.
  template <class Visit>
  void ForEachMissing(uint32_t rank, uint32_t node, Visit visit) const {
    const RankPlay& play = ranks_[rank];
    const RankTrace& own = trace_.ranks[rank];
    for (const uint32_t before : own.DependenciesOf(own.nodes[node])) {
      if (!play.has_ended[before]) visit(before);
    }
    const uint32_t previous = play.previous[node];
    if (previous != kNone && !play.has_ended[previous]) visit(previous);
  }

 private:
  void AddRank(uint32_t rank) {
    const RankTrace& own = trace_.ranks[rank];
    RankPlay& play = ranks_.emplace_back();
    play.has_ended.resize(own.nodes.size());
    // The last node of each stream, and how many it has.
    std::map<Stream, std::pair<uint32_t, uint32_t>> streams;
    for (uint32_t i = 0; i < own.nodes.size(); ++i) {
      const TraceNode& node = own.nodes[i];
      play.previous.push_back(kNone);
      play.exchange.push_back(kNone);
      play.num_missing.push_back(node.num_dependencies);
      if (node.kind == TraceNodeKind::kMark) continue;
      auto& [last, count] =
          streams.try_emplace(StreamOf(node), kNone, 0).first->second;
      if (last != kNone) {
        play.previous[i] = last;
        ++play.num_missing[i];
      }
      if (const auto meeting = MeetingOf(rank, node)) {
        play.exchange[i] = ExchangeOf(*meeting, count);
        exchanges_[play.exchange[i]].calls.push_back({rank, i});
      }
      last = i;
      ++count;
    }
    AddFollowers(own, play);
  }

  // Returns the exchange in which the calls number `count` of a meeting meet.
  uint32_t ExchangeOf(const Meeting& meeting, uint32_t count) {
    std::vector<uint32_t>& of_meeting = exchanges_of_[meeting];
    if (count == of_meeting.size()) {
      of_meeting.push_back(static_cast<uint32_t>(exchanges_.size()));
      exchanges_.emplace_back();
    }
    return of_meeting[count];
  }

  static void AddFollowers(const RankTrace& own, RankPlay& play) {
    const size_t num_nodes = own.nodes.size();
    const auto for_each_edge = [&](auto visit) {
      for (uint32_t i = 0; i < num_nodes; ++i) {
        for (const uint32_t before : own.DependenciesOf(own.nodes[i])) {
          visit(before, i);
        }
        if (play.previous[i] != kNone) visit(play.previous[i], i);
      }
    };
    play.first_follower.assign(num_nodes + 1, 0);
    for_each_edge(
        [&](uint32_t before, uint32_t) { ++play.first_follower[before + 1]; });
    for (size_t i = 0; i < num_nodes; ++i) {
      play.first_follower[i + 1] += play.first_follower[i];
    }
    play.followers.resize(play.first_follower.back());
    std::vector<uint32_t> next = play.first_follower;
    for_each_edge([&](uint32_t before, uint32_t follower) {
      play.followers[next[before]++] = follower;
    });
  }

  // Returns how many nodes end as `call` begins.
  size_t Begin(const Call& call) {
    const uint32_t number = ranks_[call.rank].exchange[call.node];
    if (number == kNone) {
      End(call);
      return 1;
    }
    Exchange& exchange = exchanges_[number];
    ++exchange.num_begun;
    if (!exchange.has_ended()) return 0;
    for (const Call& each : exchange.calls) End(each);
    return exchange.calls.size();
  }

  void End(const Call& call) {
    RankPlay& play = ranks_[call.rank];
    play.has_ended[call.node] = true;
    const uint32_t end = play.first_follower[call.node + 1];
    for (uint32_t i = play.first_follower[call.node]; i < end; ++i) {
      const uint32_t follower = play.followers[i];
      if (--play.num_missing[follower] == 0) {
        begun_.push_back({call.rank, follower});
      }
    }
  }

  const ExecutionTrace& trace_;
  std::vector<RankPlay> ranks_;
  std::vector<Exchange> exchanges_;
  std::map<Meeting, std::vector<uint32_t>> exchanges_of_;
  std::vector<Call> begun_;  // Calls whose beginning has no effect yet.
};

// On `rank`, a node of the exchange `from` cannot begin before one of the
// exchange `to` has ended, which the rank has begun.
struct Hop {
  uint32_t from = 0;
  uint32_t to = 0;
  uint32_t rank = 0;
  uint32_t waiting = 0;  // Node of `from`.
  uint32_t awaited = 0;  // Node of `to`.
};

// Finds a circle of hops in a play that has not come to its end.
class CircleFinder {
 public:
  explicit CircleFinder(const Play& play) : play_(play) {}

  std::vector<Hop> Find() {
    constexpr size_t kShortest = 2;
    uint32_t start = 0;
    while (!IsStuck(start)) ++start;
    circle_ = FirstFrom(start);
    for (; start < play_.exchanges().size(); ++start) {
      if (circle_.size() == kShortest || num_steps_ > kMostSteps) break;
      if (IsStuck(start)) ShortenFrom(start);
    }
    // It begins with the lowest rank.
    const auto lowest = std::min_element(
        circle_.begin(), circle_.end(),
        [](const Hop& a, const Hop& b) { return a.rank < b.rank; });
    std::rotate(circle_.begin(), lowest, circle_.end());
    return std::move(circle_);
  }

 private:
  static constexpr int64_t kMostSteps = 20'000'000;  // About a second.

  // Whether some ranks have begun the exchange and some have not.
  bool IsStuck(uint32_t number) const {
    const Exchange& exchange = play_.exchanges()[number];
    return exchange.num_begun > 0 && !exchange.has_ended();
  }

  // Follows the first hop of each exchange until one comes again.
  std::vector<Hop> FirstFrom(uint32_t start) const {
    std::vector<Hop> hops;
    std::map<uint32_t, size_t> place;  // In `hops`, by exchange.
    for (uint32_t at = start; place.try_emplace(at, hops.size()).second;
         at = hops.back().to) {
      hops.push_back(FirstHop(at));
    }
    const size_t first = place.at(hops.back().to);
    hops.erase(hops.begin(), hops.begin() + static_cast<ptrdiff_t>(first));
    return hops;
  }

  Hop FirstHop(uint32_t from) const {
    const std::vector<Call>& calls = play_.exchanges()[from].calls;
    const Call& call =
        *std::find_if(calls.begin(), calls.end(), [&](const Call& each) {
          return !play_.rank(each.rank).HasBegun(each.node);
        });
    uint32_t node = call.node;
    while (!play_.rank(call.rank).HasBegun(node)) {
      play_.ForEachMissing(call.rank, node,
                           [&node](uint32_t before) { node = before; });
    }
    return {from, play_.rank(call.rank).exchange[node], call.rank, call.node,
            node};
  }

  // Replaces the circle by one through `start` that is shorter, if there is
  // one: goes level by level through all exchanges that can be reached.
  void ShortenFrom(uint32_t start) {
    std::map<uint32_t, Hop> reached_by;
    std::vector<uint32_t> level = {start};
    for (size_t length = 1; length < circle_.size(); ++length) {
      std::vector<uint32_t> next;
      for (const uint32_t from : level) {
        for (const Hop& hop : HopsFrom(from)) {
          ++num_steps_;
          if (hop.to == start) {
            circle_ = PathOf(hop, start, reached_by);
            return;
          }
          if (reached_by.try_emplace(hop.to, hop).second) {
            next.push_back(hop.to);
          }
        }
      }
      level = std::move(next);
    }
  }

  static std::vector<Hop> PathOf(const Hop& last, uint32_t start,
                                 const std::map<uint32_t, Hop>& reached_by) {
    std::vector<Hop> path = {last};
    while (path.back().from != start) {
      path.push_back(reached_by.at(path.back().from));
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  const std::vector<Hop>& HopsFrom(uint32_t from) {
    const auto [hops, is_new] = hops_.try_emplace(from);
    if (!is_new) return hops->second;
    for (const Call& call : play_.exchanges()[from].calls) {
      const RankPlay& rank = play_.rank(call.rank);
      if (rank.HasBegun(call.node)) continue;
      std::unordered_set<uint32_t> seen;
      std::vector<uint32_t> nodes = {call.node};
      while (!nodes.empty() && num_steps_ <= kMostSteps) {
        const uint32_t node = nodes.back();
        nodes.pop_back();
        ++num_steps_;
        if (rank.HasBegun(node)) {
          hops->second.push_back(
              {from, rank.exchange[node], call.rank, call.node, node});
          continue;
        }
        play_.ForEachMissing(call.rank, node, [&](uint32_t before) {
          if (seen.insert(before).second) nodes.push_back(before);
        });
      }
    }
    return hops->second;
  }

  const Play& play_;
  std::vector<Hop> circle_;
  std::map<uint32_t, std::vector<Hop>> hops_;  // By exchange.
  int64_t num_steps_ = 0;
};

std::string NodeText(const ExecutionTrace& trace, uint32_t rank,
                     uint32_t number) {
  const TraceNode& node = trace.ranks[rank].nodes[number];
  return fmt::format("node {} ({})", node.id,
                     Printable(trace.names[node.name.index()]));
}

std::string Describe(const ExecutionTrace& trace,
                     const std::vector<Hop>& circle) {
  constexpr size_t kMostNamed = 8;
  std::string text;
  for (size_t i = 0; i < std::min(kMostNamed, circle.size()); ++i) {
    const Hop& hop = circle[i];
    text += fmt::format("{}{}: {} waits for {}, in which rank {} is missing",
                        i == 0 ? "" : "; ", RankText(trace, RankId(hop.rank)),
                        NodeText(trace, hop.rank, hop.waiting),
                        NodeText(trace, hop.rank, hop.awaited),
                        circle[(i + 1) % circle.size()].rank);
  }
  if (circle.size() > kMostNamed) {
    text += fmt::format("; and {} ranks more", circle.size() - kMostNamed);
  }
  return text;
}

}  // namespace

absl::Status CheckEnds(const ExecutionTrace& trace) {
  Play play(trace);
  if (play.ToTheEnd()) return absl::OkStatus();
  return absl::InvalidArgumentError("ranks wait for one another in a circle: " +
                                    Describe(trace, CircleFinder(play).Find()));
}

}  // namespace astra
