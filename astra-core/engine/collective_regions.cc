#include "astra-core/engine/collective_regions.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/random.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/flow_sending.h"

namespace astra {
namespace {

// The links that the packets of a connection pass, and those that its
// acknowledgements pass.
struct Way {
  std::vector<LinkId> there;
  std::vector<LinkId> back;
};

template <class Item>
void SortOut(std::vector<Item>* items) {
  std::sort(items->begin(), items->end());
  items->erase(std::unique(items->begin(), items->end()), items->end());
}

template <class Item>
int64_t PlaceIn(const std::vector<Item>& sorted, Item item) {
  return std::lower_bound(sorted.begin(), sorted.end(), item) - sorted.begin();
}

std::vector<Way> WaysOf(absl::Span<const Connection> connections,
                        ReplaySupport& network) {
  std::vector<Way> ways;
  for (const Connection& connection : connections) {
    Way& way = ways.emplace_back();
    ASTRA_CHECK(network.AppendPath(connection, &way.there, &way.back),
                "no path");
  }
  return ways;
}

// Each rank waits for the slowest of its connections, which at best carries its
// bytes and nothing else.
TimePs LeastTimeOf(const MessageFacts& facts, absl::Span<const Way> ways,
                   uint32_t num_ranks, const Topology& topology) {
  std::vector<TimePs> of_rank(num_ranks);
  for (size_t i = 0; i < ways.size(); ++i) {
    const GraphConnection& connection = facts.connections[i];
    for (const LinkId link : ways[i].there) {
      const TimePs time =
          TransferTime(connection.bytes, topology.type(link).bandwidth);
      for (const GroupRank end : {connection.source, connection.target}) {
        if (end.index() >= num_ranks) continue;
        of_rank[end.index()] = std::max(of_rank[end.index()], time);
      }
    }
  }
  return *std::min_element(of_rank.begin(), of_rank.end());
}

// Of messages between ranks and switches: returns whether the links of each
// rank are like those of every other.
bool HasAlikeLinks(const MessageFacts& facts, absl::Span<const Way> ways,
                   uint32_t num_ranks, const ReplaySupport& network) {
  std::vector<uint64_t> sum_of_rank(num_ranks);
  for (size_t i = 0; i < ways.size(); ++i) {
    const GraphConnection& connection = facts.connections[i];
    const bool comes_from_rank = connection.source.index() < num_ranks;
    std::vector<int64_t> shape;
    for (const auto* path : {&ways[i].there, &ways[i].back}) {
      for (const LinkId link : *path) network.AppendShape(link, &shape);
    }
    uint64_t hash = HashOf(comes_from_rank, connection.channel);
    for (const int64_t word : shape) hash = HashOf(hash, word);
    const GroupRank rank =
        comes_from_rank ? connection.source : connection.target;
    sum_of_rank[rank.index()] += hash;
  }
  return std::all_of(sum_of_rank.begin(), sum_of_rank.end(),
                     [&](uint64_t sum) { return sum == sum_of_rank.front(); });
}

// Finds the links of the connections, and the switches between them.
void AddLinks(absl::Span<const Way> ways, const Topology& topology,
              CollectiveRegion* region) {
  for (const auto& [there, back] : ways) {
    region->links.insert(region->links.end(), there.begin(), there.end());
    region->links.insert(region->links.end(), back.begin(), back.end());
    region->first_links.push_back(there.front());
  }
  SortOut(&region->links);
  SortOut(&region->first_links);
  for (const LinkId link : region->links) {
    for (const NodeId node :
         {topology.link(link).source, topology.link(link).target}) {
      if (!topology.IsHost(node)) region->switches.push_back(node);
    }
  }
  SortOut(&region->switches);
}

// Returns what makes regions alike: what takes place there, and the links of
// the connections, numbered in their order.
std::vector<int64_t> ShapeOf(const CollectiveRegion& region,
                             absl::Span<const uint64_t> what_it_is,
                             absl::Span<const Way> ways,
                             const ReplaySupport& network) {
  const Topology& topology = network.topology();
  std::vector<NodeId> nodes;
  for (const LinkId link : region.links) {
    nodes.push_back(topology.link(link).source);
    nodes.push_back(topology.link(link).target);
  }
  SortOut(&nodes);
  std::vector<int64_t> shape;
  for (const uint64_t word : what_it_is) {
    shape.push_back(static_cast<int64_t>(word));
  }
  for (const LinkId link : region.links) {
    network.AppendShape(link, &shape);
    shape.push_back(PlaceIn(nodes, topology.link(link).source));
    shape.push_back(PlaceIn(nodes, topology.link(link).target));
  }
  for (const auto& [there, back] : ways) {
    for (const auto* path : {&there, &back}) {
      shape.push_back(-1);
      for (const LinkId link : *path) {
        shape.push_back(PlaceIn(region.links, link));
      }
    }
  }
  return shape;
}

void AddBuffers(absl::Span<const Way> ways, const ReplaySupport& network,
                CollectiveRegion* region) {
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

}  // namespace

absl::StatusOr<const CollectiveRegion*> CollectiveRegions::RegionOf(
    CommunicatorId communicator, const Communication& what,
    ReplaySupport& network) {
  const auto key =
      std::tuple(communicator.index(), what.dimension, what.kind, what.bytes);
  const auto found = regions_.find(key);
  if (found != regions_.end()) return &found->second;
  ASTRA_ASSIGN_OR_RETURN(CollectiveRegion region,
                         MakeRegion(communicator, what, network));
  return &regions_.emplace(key, std::move(region)).first->second;
}

absl::StatusOr<CollectiveRegion> CollectiveRegions::MakeRegion(
    CommunicatorId communicator, const Communication& what,
    ReplaySupport& network) {
  const Communicator& group = communicators_.list[communicator.index()];
  const CollectiveCost& cost = costs_.at({what.dimension, what.kind});
  CollectiveRegion region;
  region.communicator = communicator;
  region.what = what;
  region.closed_form = cost.Time(group.group, what.bytes).time;
  ASTRA_ASSIGN_OR_RETURN(
      region.messages,
      lowering_.Outline(communicator.index(), group, what, cost));
  ASTRA_ASSIGN_OR_RETURN(region.facts, FactsOf(region.messages, what));
  const MessageFacts& facts = *region.facts;
  for (const GraphConnection& connection : facts.connections) {
    const Flow flow{.source = connection.source,
                    .target = connection.target,
                    .first_chunk = {},
                    .bytes = {},
                    .channel = connection.channel};
    region.connections.push_back(
        ConnectionOf(flow, region.messages, communicator.index()));
  }
  const std::vector<Way> ways = WaysOf(region.connections, network);
  const uint32_t num_ranks = region.messages.layout->num_ranks();
  region.needs_all = facts.needs_all;
  region.may_begin_alone = facts.has_switches;
  region.least_time = LeastTimeOf(facts, ways, num_ranks, network.topology());
  region.has_alike_ranks =
      facts.has_alike_ranks && HasAlikeLinks(facts, ways, num_ranks, network);
  AddLinks(ways, network.topology(), &region);
  region.shape = NumberOfShape(ShapeOf(region, facts.hash, ways, network));
  AddBuffers(ways, network, &region);
  return region;
}

const CollectiveRegion& CollectiveRegions::JointRegionOf(
    const std::vector<const CollectiveRegion*>& regions,
    ReplaySupport& network) {
  const auto [found, is_new] = joint_.try_emplace(regions);
  CollectiveRegion& joint = found->second;
  if (!is_new) return joint;
  // Events of one instant are handled in the order of communicators, so this
  // order is part of the shape.
  std::vector<CommunicatorId> communicators;
  communicators.reserve(regions.size());
  for (const CollectiveRegion* each : regions) {
    communicators.push_back(each->communicator);
  }
  SortOut(&communicators);
  std::vector<uint64_t> what_they_are;
  for (const CollectiveRegion* each : regions) {
    what_they_are.push_back(each->shape);
    what_they_are.push_back(
        static_cast<uint64_t>(PlaceIn(communicators, each->communicator)));
    joint.connections.insert(joint.connections.end(), each->connections.begin(),
                             each->connections.end());
  }
  joint.needs_all = true;
  const std::vector<Way> ways = WaysOf(joint.connections, network);
  AddLinks(ways, network.topology(), &joint);
  joint.shape = NumberOfShape(ShapeOf(joint, what_they_are, ways, network));
  return joint;
}

uint32_t CollectiveRegions::NumberOfShape(std::vector<int64_t> shape) {
  const auto next = static_cast<uint32_t>(shapes_.size());
  return shapes_.try_emplace(std::move(shape), next).first->second;
}

// Looks at each message once for all groups that lie alike.
absl::StatusOr<const MessageFacts*> CollectiveRegions::FactsOf(
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

uint32_t CollectiveRegions::NumberOf(const MessageCosts& costs) {
  const auto found = std::find(known_costs_.begin(), known_costs_.end(), costs);
  const auto number = static_cast<uint32_t>(found - known_costs_.begin());
  if (found == known_costs_.end()) known_costs_.push_back(costs);
  return number;
}

}  // namespace astra
