#include "topology/fabric_graph.h"

#include <algorithm>

#include "astra-core/base/check.h"

namespace astra {

FabricGraph::FabricGraph(const Topology& topology, Bundles bundles)
    : num_gpus_(topology.num_gpus()) {
  FindEdges(topology);
  FindComponents(topology);
  bundle_size_.assign(num_vertices(), 1);
  if (bundles == Bundles::kFind) FindBundles(topology);
  hops_.assign(num_vertices(), kUnreached);
  from_source_.assign(num_vertices(), kUnreached);
}

void FabricGraph::FindEdges(const Topology& topology) {
  for (uint32_t i = num_gpus_; i < topology.first_storage(); ++i) {
    first_edge_.push_back(static_cast<uint32_t>(target_.size()));
    for (const LinkId link : topology.links_from(NodeId(i))) {
      const NodeId target = topology.link(link).target;
      if (topology.IsHost(target)) continue;
      target_.push_back(VertexOf(target));
      link_.push_back(link);
    }
  }
  first_edge_.push_back(static_cast<uint32_t>(target_.size()));
}

void FabricGraph::FindComponents(const Topology& topology) {
  const auto count = static_cast<uint32_t>(first_edge_.size() - 1);
  component_.assign(count, kUnreached);
  place_.assign(count, 0);
  members_.reserve(count);
  for (uint32_t root = 0; root < count; ++root) {
    if (component_[root] != kUnreached) continue;
    const auto component = static_cast<uint32_t>(first_member_.size());
    const size_t begin = members_.size();
    first_member_.push_back(static_cast<uint32_t>(begin));
    const auto meet = [&](uint32_t vertex) {
      if (component_[vertex] != kUnreached) return;
      component_[vertex] = component;
      place_[vertex] = static_cast<uint32_t>(members_.size() - begin);
      members_.push_back(vertex);
    };
    meet(root);
    for (size_t k = begin; k < members_.size(); ++k) {
      const uint32_t vertex = members_[k];
      for (uint32_t i = first_edge_[vertex]; i < first_edge_[vertex + 1]; ++i) {
        meet(target_[i]);
      }
    }
  }
  first_member_.push_back(count);
  is_nvlink_.assign(first_member_.size() - 1, true);
  for (uint32_t vertex = 0; vertex < count; ++vertex) {
    if (topology.kind(NodeOf(vertex)) == NodeKind::kNvSwitch) continue;
    is_nvlink_[component_[vertex]] = false;
  }
}

// Returns whether b, the vertex after a, has the same links as a, each one
// cable further.
bool FabricGraph::AreTwins(const Topology& topology, uint32_t a,
                           uint32_t b) const {
  const uint32_t first_a = first_edge_[a];
  const uint32_t first_b = first_edge_[b];
  const uint32_t count = first_b - first_a;
  if (first_edge_[b + 1] - first_b != count) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const LinkId link_a = link_[first_a + i];
    const LinkId link_b = link_[first_b + i];
    if (target_[first_a + i] != target_[first_b + i] ||
        link_b.index() != link_a.index() + 2 ||
        topology.link(link_a).type != topology.link(link_b).type) {
      return false;
    }
  }
  return true;
}

// Finds bundles from the top of the network down, where the largest ones are.
void FabricGraph::FindBundles(const Topology& topology) {
  const auto count = static_cast<uint32_t>(num_vertices());
  std::vector<bool> may_join(count);
  for (uint32_t v = 0; v < count; ++v) {
    const size_t num_links = topology.links_from(NodeOf(v)).size();
    may_join[v] = first_edge_[v + 1] - first_edge_[v] == num_links;
  }
  for (uint32_t end = count; end > 0;) {
    uint32_t begin = end - 1;
    while (begin > 0 && may_join[begin] && may_join[begin - 1] &&
           AreTwins(topology, begin - 1, begin)) {
      --begin;
    }
    if (end - begin > 1) {
      std::fill(bundle_size_.begin() + begin, bundle_size_.begin() + end, 0);
      bundle_size_[begin] = end - begin;
      for (uint32_t i = first_edge_[begin]; i < first_edge_[begin + 1]; ++i) {
        may_join[target_[i]] = false;
      }
    }
    end = begin;
  }
}

void FabricGraph::ForgetSearch() {
  for (const Levels* levels : {&target_levels_, &source_levels_}) {
    for (const std::vector<uint32_t>& level : *levels) {
      for (const uint32_t vertex : level) {
        hops_[vertex] = kUnreached;
        from_source_[vertex] = kUnreached;
      }
    }
  }
  target_levels_.clear();
  source_levels_.clear();
}

// Puts `nodes` into the first level. Returns whether `other`, the distances of
// the other search, has reached one of them.
bool FabricGraph::Begin(absl::Span<const NodeId> nodes, Levels& levels,
                        std::vector<uint32_t>& distance,
                        const std::vector<uint32_t>& other) const {
  bool meets = false;
  std::vector<uint32_t>& level = levels.emplace_back();
  for (const NodeId node : nodes) {
    const uint32_t vertex = VertexOf(node);
    distance[vertex] = 0;
    level.push_back(vertex);
    meets = meets || other[vertex] != kUnreached;
  }
  return meets;
}

// Adds the next level. Returns whether `other`, the distances of the other
// search, has reached one of its vertices.
bool FabricGraph::Expand(Levels& levels, std::vector<uint32_t>& distance,
                         const std::vector<uint32_t>& other) const {
  bool meets = false;
  const auto next_distance = static_cast<uint32_t>(levels.size());
  std::vector<uint32_t> next;
  for (const uint32_t vertex : levels.back()) {
    ForEachEdge(vertex, [&](const Edge& edge) {
      if (distance[edge.target] != kUnreached) return;
      distance[edge.target] = next_distance;
      next.push_back(edge.target);
      meets = meets || other[edge.target] != kUnreached;
    });
  }
  ASTRA_CHECK(!next.empty(), "the sources and targets are not connected");
  levels.push_back(std::move(next));
  return meets;
}

// Counts hops on from the last level of the sources, where the two searches
// meet, back to the sources.
void FabricGraph::MarkTowardsSources() {
  const auto begin = static_cast<uint32_t>(target_levels_.size() - 1);
  uint32_t next_hops = begin;
  for (size_t level = source_levels_.size() - 1; level-- > 0;) {
    const uint32_t hops = next_hops++;
    for (const uint32_t vertex : source_levels_[level]) {
      bool is_nearer = false;
      ForEachEdge(vertex, [&](const Edge& edge) {
        is_nearer = is_nearer || hops_[edge.target] == hops;
      });
      if (is_nearer) hops_[vertex] = next_hops;
    }
  }
}

void FabricGraph::Search(absl::Span<const NodeId> sources,
                         absl::Span<const NodeId> targets) {
  ForgetSearch();
  const auto is_single = [&](NodeId node) {
    return bundle_size_[VertexOf(node)] == 1;
  };
  with_bundles_ = std::all_of(sources.begin(), sources.end(), is_single) &&
                  std::all_of(targets.begin(), targets.end(), is_single);
  Begin(targets, target_levels_, hops_, from_source_);
  bool meets = Begin(sources, source_levels_, from_source_, hops_);
  while (!meets) {
    const bool expand_targets =
        target_levels_.back().size() <= source_levels_.back().size();
    meets = expand_targets ? Expand(target_levels_, hops_, from_source_)
                           : Expand(source_levels_, from_source_, hops_);
  }
  MarkTowardsSources();
}

}  // namespace astra
