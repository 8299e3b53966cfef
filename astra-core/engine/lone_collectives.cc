#include "astra-core/engine/lone_collectives.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/flow_sending.h"
#include "astra-core/engine/round_skipper.h"

namespace astra {
namespace {

template <class Item>
void SortOut(std::vector<Item>* items) {
  std::sort(items->begin(), items->end());
  items->erase(std::unique(items->begin(), items->end()), items->end());
}

TimePs RoundDown(TimePs time, TimePs to) {
  return TimePs(time.count() / to.count() * to.count());
}
TimePs RoundUp(TimePs time, TimePs to) {
  return RoundDown(time + to - TimePs(1), to);
}

// Times each of which is about `factor` times the one before: 0, then from
// `least` on up to `most`, which is the only one of its kind when rounding
// down.
class TimeScale {
 public:
  TimeScale(TimePs least, TimePs most, int64_t factor) : factor_(factor) {
    for (TimePs time = most; time > least;
         time = TimePs(time.count() / factor)) {
      times_.push_back(time);
    }
    times_.emplace_back();
    std::reverse(times_.begin(), times_.end());
  }

  TimePs RoundDown(TimePs time) const {
    return *(std::upper_bound(times_.begin(), times_.end(), time) - 1);
  }
  TimePs RoundUp(TimePs time) const {
    const auto next = std::lower_bound(times_.begin(), times_.end(), time);
    if (next != times_.end()) return *next;
    TimePs beyond = times_.back();
    while (beyond < time) beyond = factor_ * beyond;
    return beyond;
  }

 private:
  int64_t factor_;
  std::vector<TimePs> times_;
};

// Returns the collective with each start moved to `move(start)`.
template <class Move>
StartedCollective MovedStarts(StartedCollective started, const Move& move) {
  for (KernelStart& start : started.starts) start.time = move(start.time);
  std::sort(started.starts.begin(), started.starts.end(),
            [](const KernelStart& a, const KernelStart& b) {
              return std::tie(a.time, a.rank) < std::tie(b.time, b.rank);
            });
  return started;
}

// Returns whether every rank has its result, and none before all ranks of its
// collective have started.
bool EndAfterStarts(absl::Span<const RankEnd> ends,
                    absl::Span<const LoneCollective> collectives) {
  size_t num_ranks = 0;
  for (const LoneCollective& each : collectives) {
    num_ranks += each.starts.size();
  }
  if (ends.size() != num_ranks) return false;
  return std::all_of(ends.begin(), ends.end(), [&](const RankEnd& end) {
    return end.time >= collectives[end.collective].starts.back().time;
  });
}

template <class Item>
int64_t PlaceIn(const std::vector<Item>& sorted, Item item) {
  return std::lower_bound(sorted.begin(), sorted.end(), item) - sorted.begin();
}

}  // namespace

LoneCollectives::LoneCollectives(
    const Communicators& communicators, const CollectiveCosts& costs,
    CollectiveLowering& lowering,
    const std::function<std::unique_ptr<NetworkBackend>()>& new_network,
    std::unique_ptr<NetworkBackend> network, const LoneOptions& options)
    : communicators_(communicators),
      costs_(costs),
      lowering_(lowering),
      new_network_(new_network),
      options_(options) {
  SetNetwork(std::move(network));
}

void LoneCollectives::SetNetwork(std::unique_ptr<NetworkBackend> network) {
  carrier_.reset();
  if (network_ != nullptr) events_before_ += network_->work().events;
  network_ = std::move(network);
  carrier_ = std::make_unique<FlowCarrier>(*network_);
  if (!options_.notes_messages) return;
  network_->LogArrivals(
      [this](const FlowRecord& message, absl::Span<const LinkId> /*path*/) {
        recorder_->Add(message);
      });
}

absl::StatusOr<const CollectiveRegion*> LoneCollectives::RegionOf(
    CommunicatorId communicator, const Communication& what) {
  const auto key =
      std::tuple(communicator.index(), what.dimension, what.kind, what.bytes);
  const auto found = regions_.find(key);
  if (found != regions_.end()) return &found->second;
  ASTRA_ASSIGN_OR_RETURN(CollectiveRegion region,
                         MakeRegion(communicator, what));
  return &regions_.emplace(key, std::move(region)).first->second;
}

bool LoneCollectives::IsReplayable(const CollectiveRegion& region) const {
  return needs_all_[region.shape] && !is_irregular_[region.shape];
}

absl::StatusOr<CollectiveRegion> LoneCollectives::MakeRegion(
    CommunicatorId communicator, const Communication& what) {
  const Communicator& group = communicators_.list[communicator.index()];
  const CollectiveCost& cost = costs_.at({what.dimension, what.kind});
  CollectiveRegion region;
  region.communicator = communicator;
  region.what = what;
  region.closed_form = cost.Time(group.group, what.bytes).time;
  ASTRA_ASSIGN_OR_RETURN(
      region.messages,
      lowering_.Outline(communicator.index(), group, what, cost));
  ASTRA_ASSIGN_OR_RETURN(const MessageFacts* facts,
                         FactsOf(region.messages, what));
  for (const auto& [source, target, channel] : facts->connections) {
    const Flow flow{.source = source,
                    .target = target,
                    .first_chunk = {},
                    .bytes = {},
                    .channel = channel};
    region.connections.push_back(
        ConnectionOf(flow, region.messages, communicator.index()));
  }
  region.may_begin_alone = facts->has_switches;
  const std::vector<Way> ways = WaysOf(region);
  FindShape(facts->hash, ways, facts->needs_all, &region);
  AddBuffers(ways, &region);
  return region;
}

std::vector<LoneCollectives::Way> LoneCollectives::WaysOf(
    const CollectiveRegion& region) {
  std::vector<Way> ways;
  for (const Connection& connection : region.connections) {
    Way& way = ways.emplace_back();
    ASTRA_CHECK(
        network_->replay()->AppendPath(connection, &way.there, &way.back),
        "no path");
  }
  return ways;
}

// Finds the links of the connections, and what makes them alike to others.
// `what_it_is` says which messages there are.
void LoneCollectives::FindShape(absl::Span<const uint64_t> what_it_is,
                                absl::Span<const Way> ways, bool needs_all,
                                CollectiveRegion* region) {
  const ReplaySupport& network = *network_->replay();
  const Topology& topology = network.topology();
  for (const auto& [there, back] : ways) {
    region->links.insert(region->links.end(), there.begin(), there.end());
    region->links.insert(region->links.end(), back.begin(), back.end());
  }
  SortOut(&region->links);
  std::vector<NodeId> nodes;
  for (const LinkId link : region->links) {
    nodes.push_back(topology.link(link).source);
    nodes.push_back(topology.link(link).target);
  }
  SortOut(&nodes);
  for (const NodeId node : nodes) {
    if (!topology.IsHost(node)) region->switches.push_back(node);
  }

  std::vector<int64_t> shape;
  for (const uint64_t word : what_it_is) {
    shape.push_back(static_cast<int64_t>(word));
  }
  for (const LinkId link : region->links) {
    network.AppendShape(link, &shape);
    shape.push_back(PlaceIn(nodes, topology.link(link).source));
    shape.push_back(PlaceIn(nodes, topology.link(link).target));
  }
  for (const auto& [there, back] : ways) {
    for (const auto* path : {&there, &back}) {
      shape.push_back(-1);
      for (const LinkId link : *path) {
        shape.push_back(PlaceIn(region->links, link));
      }
    }
  }
  const auto next = static_cast<uint32_t>(shapes_.size());
  const auto [known, is_new] = shapes_.try_emplace(std::move(shape), next);
  region->shape = known->second;
  if (!is_new) return;
  needs_all_.push_back(needs_all);
  is_irregular_.push_back(false);
  num_simulated_.push_back(0);
}

void LoneCollectives::AddBuffers(absl::Span<const Way> ways,
                                 CollectiveRegion* region) {
  const ReplaySupport& network = *network_->replay();
  const Topology& topology = network.topology();
  region->most_at_switch.resize(region->switches.size());
  constexpr int64_t kNoLimit = int64_t{1} << 50;
  for (const auto& [there, back] : ways) {
    const int64_t most =
        std::min(kNoLimit, network.MostUnderWay(there, back).count());
    for (const LinkId link : there) {
      const NodeId node = topology.link(link).source;
      if (topology.IsHost(node)) continue;
      int64_t& held = region->most_at_switch[static_cast<size_t>(
          PlaceIn(region->switches, node))];
      held = std::min(kNoLimit, held + most);
    }
  }
}

const CollectiveRegion& LoneCollectives::JointRegionOf(
    absl::Span<const StartedCollective> collectives) {
  std::vector<const CollectiveRegion*> regions;
  for (const StartedCollective& each : collectives) {
    regions.push_back(each.region);
  }
  const auto [found, is_new] = joint_.try_emplace(std::move(regions));
  CollectiveRegion& joint = found->second;
  if (!is_new) return joint;
  // Events of one instant are handled in the order of communicators, so this
  // order is part of the shape.
  std::vector<uint64_t> what_they_are;
  std::vector<CommunicatorId> communicators;
  for (const StartedCollective& each : collectives) {
    communicators.push_back(each.region->communicator);
  }
  SortOut(&communicators);
  for (const StartedCollective& each : collectives) {
    const CollectiveRegion& region = *each.region;
    what_they_are.push_back(region.shape);
    what_they_are.push_back(
        static_cast<uint64_t>(PlaceIn(communicators, region.communicator)));
    joint.connections.insert(joint.connections.end(),
                             region.connections.begin(),
                             region.connections.end());
  }
  FindShape(what_they_are, WaysOf(joint), /*needs_all=*/true, &joint);
  return joint;
}

// Looks at each message once for all groups that lie alike.
absl::StatusOr<const MessageFacts*> LoneCollectives::FactsOf(
    const CollectiveMessages& messages, const Communication& what) {
  const auto& [algorithm, chunking, custom] = messages.plan;
  const MessagesKey key = {
      what.kind, what.bytes, messages.layout.get(),   algorithm.name,
      chunking,  custom,     NumberOf(messages.costs)};
  const auto found = facts_.find(key);
  if (found != facts_.end()) return &found->second;
  ASTRA_ASSIGN_OR_RETURN(const std::shared_ptr<const FlowGraph> graph,
                         lowering_.GraphOf(messages, what));
  return &facts_
              .emplace(key, astra::FactsOf(*graph, what.kind, messages.costs,
                                           messages.layout.get()))
              .first->second;
}

uint32_t LoneCollectives::NumberOf(const MessageCosts& costs) {
  const auto found = std::find(known_costs_.begin(), known_costs_.end(), costs);
  const auto number = static_cast<uint32_t>(found - known_costs_.begin());
  if (found == known_costs_.end()) known_costs_.push_back(costs);
  return number;
}

// The ends of ranks move by no more than the starts, since a message leaves as
// soon as the last of what it waits for is there. So starts may be moved by
// `tolerance`. They may be moved by more if two simulations say that it makes
// no difference: one in which no rank starts earlier than it does, and one in
// which none starts later.
absl::Status LoneCollectives::RoundStarts(
    const Turns& turns, absl::Span<StartedCollective> collectives) {
  StartedCollective& started = collectives.back();
  const TimePs duration = started.region->closed_form;
  TimePs shortest = duration;
  for (const StartedCollective& each : collectives) {
    shortest = std::min(shortest, each.region->closed_form);
  }
  const TimePs tolerance = ShareOf(options_.error_bound, shortest);
  if (tolerance <= TimePs(1)) return absl::OkStatus();
  if (collectives.size() > 1) {
    const TimePs begin = collectives.front().starts.front().time;
    started = MovedStarts(started, [&](TimePs start) {
      return begin + RoundUp(start - begin, tolerance);
    });
    return absl::OkStatus();
  }
  const TimePs last = started.starts.back().time;
  // What a rank can do without the last one is done after a while.
  StartedCollective nearly = MovedStarts(started, [&](TimePs start) {
    return last - RoundDown(std::min(last - start, duration), tolerance);
  });
  const uint32_t num_simulated = num_simulated_[started.region->shape];
  for (const int64_t factor : {16, 4, 2}) {
    if (num_simulated < kManySimulated) break;
    const TimeScale scale(tolerance, duration, factor);
    StartedCollective later = MovedStarts(started, [&](TimePs start) {
      return last - scale.RoundDown(last - start);
    });
    const StartedCollective earlier = MovedStarts(started, [&](TimePs start) {
      return last - scale.RoundUp(last - start);
    });
    ASTRA_ASSIGN_OR_RETURN(const bool is_alike,
                           EndAlike(later, earlier, turns, tolerance));
    if (!is_alike) continue;
    started = std::move(later);
    return absl::OkStatus();
  }
  started = std::move(nearly);
  return absl::OkStatus();
}

// Returns whether each rank ends at the same time in both, up to `tolerance`.
absl::StatusOr<bool> LoneCollectives::EndAlike(const StartedCollective& later,
                                               const StartedCollective& earlier,
                                               const Turns& turns,
                                               TimePs tolerance) {
  std::vector<TimePs> ends(later.starts.size());
  for (const StartedCollective* each : {&later, &earlier}) {
    ASTRA_ASSIGN_OR_RETURN(
        const LoneResult* result,
        Find(*each->region, absl::MakeConstSpan(each, 1), turns));
    if (!result->is_regular) return false;
    const TimePs begin = each->starts.front().time;
    for (const RankEnd& end : result->ends) {
      TimePs& of_rank = ends[end.rank.index()];
      of_rank = begin + end.time - of_rank;
    }
  }
  return std::all_of(ends.begin(), ends.end(), [&](TimePs difference) {
    return -1 * tolerance <= difference && difference <= tolerance;
  });
}

absl::StatusOr<const LoneResult*> LoneCollectives::ResultOf(
    const CollectiveRegion& region,
    absl::Span<const StartedCollective> collectives, const Turns& turns) {
  ASTRA_ASSIGN_OR_RETURN(const LoneResult* result,
                         Find(region, collectives, turns));
  if (!result->is_regular) is_irregular_[region.shape] = true;
  return result;
}

absl::StatusOr<const LoneResult*> LoneCollectives::Find(
    const CollectiveRegion& region,
    absl::Span<const StartedCollective> collectives, const Turns& turns) {
  std::vector<int64_t> key = {int64_t{region.shape}};
  const TimePs begin = collectives.front().starts.front().time;
  for (const StartedCollective& each : collectives) {
    for (const auto& [time, rank] : each.starts) {
      key.push_back((time - begin).count());
      key.push_back(rank.index());
    }
  }
  // Whose turn is first makes a difference of a few packets.
  if (is_exact()) key.insert(key.end(), turns.begin(), turns.end());
  const auto found = results_.find(key);
  if (found != results_.end()) return &found->second;
  ++num_simulated_[region.shape];
  ASTRA_ASSIGN_OR_RETURN(LoneResult result,
                         Simulate(region, collectives, turns));
  return &results_.emplace(std::move(key), std::move(result)).first->second;
}

absl::StatusOr<std::vector<LoneCollective>> LoneCollectives::WithGraphs(
    absl::Span<const StartedCollective> collectives) {
  std::vector<LoneCollective> made;
  for (const auto& [of, region, starts] : collectives) {
    LoneCollective& each = made.emplace_back();
    each.of = of;
    each.messages = region->messages;
    each.starts = starts;
    ASTRA_ASSIGN_OR_RETURN(each.messages.graph,
                           lowering_.GraphOf(each.messages, region->what));
  }
  return made;
}

absl::StatusOr<LoneResult> LoneCollectives::Simulate(
    const CollectiveRegion& region,
    absl::Span<const StartedCollective> collectives, const Turns& turns) {
  ASTRA_ASSIGN_OR_RETURN(std::vector<LoneCollective> alone,
                         WithGraphs(collectives));
  ReplaySupport& network = *network_->replay();
  network.CloseConnections();
  network.SetTurns(region.connections, turns);
  network.StartMeasuring(region.links, region.switches);
  const TimePs begin = network_->now();
  const TimePs moved_by = begin - alone.front().starts.front().time;
  for (LoneCollective& each : alone) {
    for (KernelStart& start : each.starts) start.time += moved_by;
  }
  ASTRA_ASSIGN_OR_RETURN(
      const MessageFacts* facts,
      FactsOf(alone.front().messages, collectives.front().region->what));
  if (options_.notes_messages) {
    recorder_ = std::make_unique<MessageRecorder>(alone, region.connections,
                                                  *carrier_, begin);
  }
  RoundSkipper skipper(facts->rounds, region.connections, *carrier_, *network_);
  LoneRun run(alone, *carrier_, *network_);
  LoneResult result;
  absl::StatusOr<std::vector<RankEnd>> ends =
      run.RunToEnd(alone.size() == 1 ? &skipper : nullptr, watch_);
  const std::unique_ptr<MessageRecorder> recorder = std::move(recorder_);
  if (!ends.ok()) return ends.status();  // So does the run.
  result.ends = *std::move(ends);
  if (run.is_done()) {
    result.measured = network.StopMeasuring(region.connections);
    simulated_hops_ +=
        result.measured.num_packet_hops - result.measured.num_counted_hops;
    skipper.AddSkipped(&result.measured);
    if (options_.notes_messages) {
      result.messages = recorder->Take(skipper.skipped());
    }
    result.is_regular =
        result.measured.is_regular && EndAfterStarts(result.ends, alone);
  }
  for (RankEnd& end : result.ends) end.time -= begin;
  // Acknowledgements that are still under way slow nobody down much.
  if (result.is_regular && !is_exact()) {
    result.measured.quiet = result.ends.back().time;
  }
  // An irregular collective leaves queue pairs behind that would disturb the
  // next one.
  if (!result.is_regular) SetNetwork(new_network_());
  return result;
}

}  // namespace astra
