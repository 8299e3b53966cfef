#include "collectives/reduction_tree.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

enum class Direction { kUp, kDown };

// How a search reached a node: from which node, and after how many links.
struct Step {
  NodeId from;
  uint32_t num_links = 0;
};
using Search = absl::flat_hash_map<uint32_t, Step>;  // Steps by node.

// Returns the switches one link beyond `level` that `search` has not met, by
// id.
std::vector<NodeId> NextLevel(absl::Span<const NodeId> level,
                              Direction direction, const Topology& topology,
                              Search& search) {
  std::vector<NodeId> next_level;
  for (const NodeId node : level) {
    const uint32_t num_links = search[node.index()].num_links + 1;
    for (const LinkId link : topology.links_from(node)) {
      const NodeId next = topology.link(link).target;
      if (topology.kind(next) != NodeKind::kSwitch) continue;
      const auto [low, high] = direction == Direction::kUp
                                   ? std::pair(node, next)
                                   : std::pair(next, node);
      if (topology.tier(low) > topology.tier(high)) continue;
      if (search.try_emplace(next.index(), Step{node, num_links}).second) {
        next_level.push_back(next);
      }
    }
  }
  std::sort(next_level.begin(), next_level.end());
  return next_level;
}

// Returns the switch of lowest id that is linked to `node` and above it.
std::optional<NodeId> LowestAbove(NodeId node, const Topology& topology) {
  std::optional<NodeId> lowest;
  for (const LinkId link : topology.links_from(node)) {
    const NodeId next = topology.link(link).target;
    if (topology.kind(next) != NodeKind::kSwitch ||
        topology.tier(next) <= topology.tier(node)) {
      continue;
    }
    if (!lowest || next < *lowest) lowest = next;
  }
  return lowest;
}

bool HasGpusOfOtherServers(NodeId node, uint32_t server,
                           const Topology& topology) {
  const absl::Span<const LinkId> links = topology.links_from(node);
  return std::any_of(links.begin(), links.end(), [&](LinkId link) {
    const NodeId next = topology.link(link).target;
    return topology.kind(next) == NodeKind::kGpu &&
           topology.ServerOf(RankId(next.index())) != server;
  });
}

absl::StatusOr<NodeId> LeafOf(RankId rank, const Topology& topology) {
  const NodeId gpu = Topology::NodeOf(rank);
  const std::optional<NodeId> nearest = LowestAbove(gpu, topology);
  if (!nearest) {
    return absl::FailedPreconditionError(fmt::format(
        "{} has no NIC: it is linked to no switch of the fabric, which is to "
        "reduce",
        topology.NodeName(gpu)));
  }
  if (HasGpusOfOtherServers(*nearest, topology.ServerOf(rank), topology)) {
    return *nearest;
  }
  return LowestAbove(*nearest, topology).value_or(*nearest);
}

// Searches from `root` down to all of `leaves`; nullopt if one is not below it.
std::optional<Search> SearchDown(NodeId root, absl::Span<const NodeId> leaves,
                                 const Topology& topology) {
  Search search = {{root.index(), {root, 0}}};
  std::vector<NodeId> level = {root};
  const auto is_met = [&](NodeId leaf) {
    return search.contains(leaf.index());
  };
  while (!std::all_of(leaves.begin(), leaves.end(), is_met)) {
    if (level.empty()) return std::nullopt;
    level = NextLevel(level, Direction::kDown, topology, search);
  }
  return search;
}

// Searches down from the root of the tree of `leaves`.
absl::StatusOr<Search> SearchFromRoot(absl::Span<const NodeId> leaves,
                                      const Topology& topology) {
  const NodeId first = leaves.front();
  Search above_first = {{first.index(), {first, 0}}};
  std::vector<NodeId> level = {first};
  while (!level.empty()) {
    for (const NodeId root : level) {
      std::optional<Search> search = SearchDown(root, leaves, topology);
      if (search) return *std::move(search);
    }
    level = NextLevel(level, Direction::kUp, topology, above_first);
  }
  return absl::FailedPreconditionError(fmt::format(
      "no switch is above all of the {} switches, {} to {}, that the group's "
      "NICs are linked to",
      leaves.size(), topology.NodeName(leaves.front()),
      topology.NodeName(leaves.back())));
}

}  // namespace

absl::StatusOr<ReductionTree> FindReductionTree(absl::Span<const RankId> ranks,
                                                const Topology& topology) {
  ASTRA_CHECK(!ranks.empty(), "a group without ranks");
  std::vector<NodeId> leaf_of;
  for (const RankId rank : ranks) {
    ASTRA_ASSIGN_OR_RETURN(leaf_of.emplace_back(), LeafOf(rank, topology));
  }
  const std::set<NodeId> distinct(leaf_of.begin(), leaf_of.end());
  const std::vector<NodeId> leaves(distinct.begin(), distinct.end());
  ASTRA_ASSIGN_OR_RETURN(const Search search, SearchFromRoot(leaves, topology));

  // Negative numbers of links sort the furthest switches to the front.
  std::set<std::pair<int64_t, NodeId>> members;
  for (NodeId node : leaves) {
    while (true) {
      const Step& step = search.at(node.index());
      const bool is_new =
          members.insert({-int64_t{step.num_links}, node}).second;
      if (!is_new || step.from == node) break;
      node = step.from;
    }
  }
  ReductionTree tree;
  // Position of each node.
  absl::flat_hash_map<uint32_t, uint32_t> position_of;
  for (const auto& [_, node] : members) {
    position_of[node.index()] = static_cast<uint32_t>(tree.nodes.size());
    tree.nodes.push_back(node);
  }
  for (const NodeId node : tree.nodes) {
    const NodeId from = search.at(node.index()).from;
    tree.reducers.emplace_back();
    if (from != node) tree.reducers.back().parent = position_of[from.index()];
  }
  for (const NodeId leaf : leaf_of) {
    tree.leaf_of.push_back(position_of[leaf.index()]);
  }
  return tree;
}

absl::StatusOr<PlacedGroup> PlaceGroup(const CollectiveAlgorithm& algorithm,
                                       absl::Span<const RankId> ranks,
                                       const Topology& topology) {
  PlacedGroup group = {GroupLayout::Of(ranks, topology), {}};
  group.nodes = MemberNodes(ranks, group.layout, topology);
  if (!algorithm.needs_reducers) return group;
  ASTRA_ASSIGN_OR_RETURN(ReductionTree tree,
                         FindReductionTree(ranks, topology));
  group.nodes.insert(group.nodes.end(), tree.nodes.begin(), tree.nodes.end());
  group.layout.SetReducers(std::move(tree.reducers), std::move(tree.leaf_of));
  return group;
}

}  // namespace astra
