// The switches of a cluster as a graph, for searches of shortest paths.
//
// Vertex v is node num_gpus + v. A bundle is a row of vertices that have the
// same neighbours over the same makes of link, such as all core switches that
// join the j-th PSW of every pod. Traffic that each switch splits evenly is the
// same at all members of a bundle, so a search may treat them as one. The links
// from a bundle to one neighbour are links of successive cables. A neighbour of
// a bundle is never in a bundle itself.

#ifndef TOPOLOGY_FABRIC_GRAPH_H_
#define TOPOLOGY_FABRIC_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "topology/topology.h"

namespace astra {

class FabricGraph {
 public:
  static constexpr uint32_t kUnreached = std::numeric_limits<uint32_t>::max();

  // A link to a vertex, or the links to all members of a bundle.
  struct Edge {
    LinkId first_link;
    uint32_t target;    // The vertex, or the first of the bundle.
    uint32_t size = 1;  // Members of the bundle; 1: no bundle.
  };

  enum class Bundles : uint8_t {
    kFind,
    kNone,  // For searches in which members of a bundle differ.
  };

  FabricGraph(const Topology& topology, Bundles bundles);

  size_t num_vertices() const { return component_.size(); }
  uint32_t VertexOf(NodeId node) const { return node.index() - num_gpus_; }
  NodeId NodeOf(uint32_t vertex) const { return NodeId(num_gpus_ + vertex); }

  // Returns the number of the component of a switch. Switches that are
  // connected without GPUs are one component. Components are numbered by their
  // lowest vertex.
  uint32_t component(NodeId node) const { return component_[VertexOf(node)]; }

  // Returns whether all switches of a component are NVSwitches.
  bool is_nvlink(uint32_t component) const { return is_nvlink_[component]; }

  // Returns the vertices of a component.
  absl::Span<const uint32_t> members(uint32_t component) const {
    const uint32_t begin = first_member_[component];
    return absl::MakeConstSpan(members_).subspan(
        begin, first_member_[component + 1] - begin);
  }

  // Returns the index of a vertex among the members of its component.
  uint32_t place(uint32_t vertex) const { return place_[vertex]; }

  // Searches the shortest paths from `sources` to `targets`, from both ends at
  // once, level by level. Afterwards hops() is right for every vertex on them.
  // Bundles are split into members if a source or target is in one. Requires
  // that all nodes are of one component.
  void Search(absl::Span<const NodeId> sources,
              absl::Span<const NodeId> targets);

  // Returns the number of links from `vertex` to the nearest target of the last
  // search. For a vertex on no shortest path it is this number or kUnreached.
  uint32_t hops(uint32_t vertex) const { return hops_[vertex]; }

  // Visits the edges from `vertex` in the order of its links, with or without
  // bundles as in the last search. Links to hosts are left out.
  template <class Visitor>
  void ForEachEdge(uint32_t vertex, Visitor visit) const {
    for (uint32_t i = first_edge_[vertex]; i < first_edge_[vertex + 1];) {
      const uint32_t size = with_bundles_ ? bundle_size_[target_[i]] : 1;
      visit(Edge{link_[i], target_[i], size});
      i += size;
    }
  }

 private:
  // Vertices by their distance from one end.
  using Levels = std::vector<std::vector<uint32_t>>;

  void FindEdges(const Topology& topology);
  void FindComponents(const Topology& topology);
  void FindBundles(const Topology& topology);
  bool AreTwins(const Topology& topology, uint32_t a, uint32_t b) const;
  void ForgetSearch();
  bool Begin(absl::Span<const NodeId> nodes, Levels& levels,
             std::vector<uint32_t>& distance,
             const std::vector<uint32_t>& other) const;
  bool Expand(Levels& levels, std::vector<uint32_t>& distance,
              const std::vector<uint32_t>& other) const;
  void MarkTowardsSources();

  uint32_t num_gpus_;
  std::vector<uint32_t> first_edge_;  // By vertex: its first edge; and the end.
  std::vector<uint32_t> target_;      // By edge: the vertex that it leads to.
  std::vector<LinkId> link_;          // By edge: its link.
  std::vector<uint32_t> component_;   // Component of each vertex.
  std::vector<uint32_t> place_;       // Place of each vertex in its component.
  std::vector<uint32_t> members_;     // Vertices, grouped by component.
  // By component: begin in members_; and the end.
  std::vector<uint32_t> first_member_;
  std::vector<bool> is_nvlink_;  // By component: only NVSwitches.
  // By vertex: the size of its bundle if it is the first member, 1 if it is in
  // no bundle, 0 for other members.
  std::vector<uint32_t> bundle_size_;

  // State of the last search.
  bool with_bundles_ = true;
  std::vector<uint32_t> hops_;         // Result of hops(), by vertex.
  std::vector<uint32_t> from_source_;  // By vertex: links from a source.
  Levels target_levels_;
  Levels source_levels_;
};

}  // namespace astra

#endif  // TOPOLOGY_FABRIC_GRAPH_H_
