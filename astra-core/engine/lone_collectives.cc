#include "astra-core/engine/lone_collectives.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/flow_sending.h"

namespace astra {
namespace {

template <class Item>
void SortOut(std::vector<Item>* items) {
  std::sort(items->begin(), items->end());
  items->erase(std::unique(items->begin(), items->end()), items->end());
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
    std::unique_ptr<NetworkBackend> network, bool notes_messages)
    : communicators_(communicators),
      costs_(costs),
      lowering_(lowering),
      new_network_(new_network),
      notes_messages_(notes_messages) {
  SetNetwork(std::move(network));
}

void LoneCollectives::SetNetwork(std::unique_ptr<NetworkBackend> network) {
  carrier_.reset();
  network_ = std::move(network);
  carrier_ = std::make_unique<FlowCarrier>(*network_);
  if (!notes_messages_) return;
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
  CollectiveRegion region;
  region.communicator = communicator;
  region.what = what;
  ASTRA_ASSIGN_OR_RETURN(
      region.messages,
      lowering_.Outline(communicator.index(), group, what,
                        costs_.at({what.dimension, what.kind})));
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
    if (topology.kind(node) != NodeKind::kGpu) region->switches.push_back(node);
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
      if (topology.kind(node) == NodeKind::kGpu) continue;
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
  const auto& [algorithm, chunking] = messages.plan;
  const MessagesKey key = {
      what.kind,      what.bytes, messages.layout.get(),
      algorithm.name, chunking,   NumberOf(messages.costs)};
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

absl::StatusOr<const LoneResult*> LoneCollectives::ResultOf(
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
  key.insert(key.end(), turns.begin(), turns.end());
  const auto found = results_.find(key);
  if (found != results_.end()) return &found->second;
  ASTRA_ASSIGN_OR_RETURN(LoneResult result,
                         Simulate(region, collectives, turns));
  if (!result.is_regular) is_irregular_[region.shape] = true;
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
  size_t num_ranks = 0;
  for (LoneCollective& each : alone) {
    for (KernelStart& start : each.starts) start.time += moved_by;
    num_ranks += each.starts.size();
  }

  ASTRA_ASSIGN_OR_RETURN(
      const MessageFacts* facts,
      FactsOf(alone.front().messages, collectives.front().region->what));
  if (notes_messages_) {
    recorder_ = std::make_unique<MessageRecorder>(alone, region.connections,
                                                  *carrier_, begin);
  }
  RoundSkipper skipper(facts->rounds, region.connections, *carrier_, *network_);
  LoneRun run(alone, *carrier_, *network_);
  LoneResult result;
  result.ends = run.RunToEnd(alone.size() == 1 ? &skipper : nullptr);
  if (run.is_done()) {
    result.measured = network.StopMeasuring(region.connections);
    simulated_hops_ += result.measured.num_packet_hops;
    skipper.AddSkipped(&result.measured);
    if (notes_messages_) result.messages = recorder_->Take(skipper.skipped());
    // No rank may have its result before all of its collective have started.
    result.is_regular =
        result.measured.is_regular && result.ends.size() == num_ranks;
    for (const RankEnd& end : result.ends) {
      if (end.time < alone[end.collective].starts.back().time) {
        result.is_regular = false;
      }
    }
  }
  for (RankEnd& end : result.ends) end.time -= begin;
  // An irregular collective leaves queue pairs behind that would disturb the
  // next one.
  if (!result.is_regular) SetNetwork(new_network_());
  return result;
}

}  // namespace astra
