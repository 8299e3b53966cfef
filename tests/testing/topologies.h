// Small topologies for tests, and checks of routes.

#ifndef TESTS_TESTING_TOPOLOGIES_H_
#define TESTS_TESTING_TOPOLOGIES_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/matchers.h"
#include "topology/routes.h"
#include "topology/topology_builder.h"

namespace astra::testing {

// Draws topologies with few words: the ends of each cable, and its make.
class Drawing {
 public:
  // `num_gpus` GPUs, then `num_nv_switches`, then `num_switches`.
  Drawing(uint32_t num_gpus, uint32_t gpus_per_server, uint32_t num_nv_switches,
          uint32_t num_switches)
      : builder_(num_gpus, gpus_per_server, "H100") {
    for (uint32_t i = 0; i < num_nv_switches; ++i) {
      builder_.AddSwitch(NodeKind::kNvSwitch);
    }
    for (uint32_t i = 0; i < num_switches; ++i) {
      builder_.AddSwitch(NodeKind::kSwitch);
    }
  }

  Drawing& Cable(uint32_t a, uint32_t b, const std::string& rate = "400Gbps",
                 const std::string& latency = "500ns") {
    const LinkTypeId type =
        ValueOrDie(builder_.AddLinkType(rate, latency, "0"));
    const absl::Status status = builder_.AddCable(NodeId(a), NodeId(b), type);
    ASTRA_CHECK(status.ok(), "{}", status.ToString());
    return *this;
  }
  Drawing& Cables(const std::vector<std::pair<uint32_t, uint32_t>>& cables) {
    for (const auto& [a, b] : cables) Cable(a, b);
    return *this;
  }

  Topology Build() { return ValueOrDie(std::move(builder_).Build()); }

 private:
  TopologyBuilder builder_;
};

// What each link carries of one unit sent along `route`.
inline std::map<LinkId, double> SharesOf(const Routes& routes,
                                         const Route& route) {
  std::map<LinkId, double> shares;
  for (const LinkShare& part : route.first) shares[part.link] += part.share;
  for (const Route::Part& part : route.parts) {
    for (const LinkRun& run : routes.fabric_route(part.fabric).links) {
      for (uint32_t i = 0; i < run.count; ++i) {
        shares[run.link(i)] += part.share * run.share;
      }
    }
  }
  for (const LinkShare& part : route.last) shares[part.link] += part.share;
  return shares;
}

// The NVSwitches that are joined to `gpu` by NVSwitches alone; none if other
// switches are joined to them.
inline std::vector<NodeId> NvlinkFabricsOf(const Topology& topology,
                                           NodeId gpu) {
  std::vector<NodeId> all;
  if (topology.kind(gpu) != NodeKind::kGpu) return all;
  std::vector<bool> is_seen(topology.num_nodes());
  for (const LinkId first : topology.links_from(gpu)) {
    std::vector<NodeId> fabric = {topology.link(first).target};
    bool is_nvlink = true;
    for (size_t i = 0; i < fabric.size(); ++i) {
      is_nvlink &= topology.kind(fabric[i]) == NodeKind::kNvSwitch;
      if (!is_nvlink) break;
      is_seen[fabric[i].index()] = true;
      for (const LinkId link : topology.links_from(fabric[i])) {
        const NodeId next = topology.link(link).target;
        if (topology.kind(next) == NodeKind::kGpu) continue;
        if (std::find(fabric.begin(), fabric.end(), next) != fabric.end()) {
          continue;
        }
        fabric.push_back(next);
      }
    }
    if (is_nvlink) all.insert(all.end(), fabric.begin(), fabric.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

// The same from first principles: a breadth-first search from the target that
// does not go on from GPUs gives distances; then what is at a node is split
// evenly over the links to nodes one nearer. A GPU that has NVSwitches among
// those uses only them. Of switches only those in `open` are passed, if there
// are any. None if there is no path.
inline std::map<LinkId, double> SharesBySearch(
    const Topology& topology, NodeId from, NodeId to,
    const std::vector<NodeId>& open = {}) {
  constexpr uint32_t kFar = std::numeric_limits<uint32_t>::max();
  const auto is_open = [&](NodeId node) {
    return open.empty() || node == from || node == to ||
           std::binary_search(open.begin(), open.end(), node);
  };
  std::vector<uint32_t> distance(topology.num_nodes(), kFar);
  distance[to.index()] = 0;
  std::vector<NodeId> order = {to};
  for (size_t i = 0; i < order.size(); ++i) {
    const NodeId node = order[i];
    if (topology.kind(node) == NodeKind::kGpu && node != to) continue;
    for (const LinkId link : topology.links_from(node)) {
      const NodeId next = topology.link(link).target;
      if (distance[next.index()] != kFar || !is_open(next)) continue;
      distance[next.index()] = distance[node.index()] + 1;
      order.push_back(next);
    }
  }
  if (distance[from.index()] == kFar) return {};

  std::map<LinkId, double> shares;
  std::vector<double> held(topology.num_nodes());
  held[from.index()] = 1;
  std::reverse(order.begin(), order.end());  // The furthest first.
  for (const NodeId node : order) {
    if (held[node.index()] == 0 || node == to) continue;
    std::vector<LinkId> nearer;
    bool has_nv_switch = false;
    for (const LinkId link : topology.links_from(node)) {
      const NodeId next = topology.link(link).target;
      // GPUs other than the target do not forward.
      if (topology.kind(next) == NodeKind::kGpu && next != to) continue;
      if (distance[next.index()] + 1 != distance[node.index()]) continue;
      nearer.push_back(link);
      has_nv_switch |= topology.kind(next) == NodeKind::kNvSwitch;
    }
    if (node == from && topology.kind(node) == NodeKind::kGpu &&
        has_nv_switch) {
      std::erase_if(nearer, [&](LinkId link) {
        return topology.kind(topology.link(link).target) != NodeKind::kNvSwitch;
      });
    }
    for (const LinkId link : nearer) {
      const double share =
          held[node.index()] / static_cast<double>(nearer.size());
      shares[link] += share;
      held[topology.link(link).target.index()] += share;
    }
  }
  return shares;
}

// The same by the whole rule: where a fabric of NVSwitches of `whole` leads
// from one to the other, no other switch is passed. `topology` may lack links.
inline std::map<LinkId, double> SharesByRule(const Topology& topology,
                                             const Topology& whole, NodeId from,
                                             NodeId to) {
  const std::vector<NodeId> ours = NvlinkFabricsOf(whole, from);
  const std::vector<NodeId> theirs = NvlinkFabricsOf(whole, to);
  std::vector<NodeId> common;
  std::set_intersection(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                        std::back_inserter(common));
  std::map<LinkId, double> shares;
  if (!common.empty()) shares = SharesBySearch(topology, from, to, common);
  return shares.empty() ? SharesBySearch(topology, from, to) : shares;
}

// Expects that one unit leaves `source`, one reaches `target`, no other GPU is
// passed, each switch sends on what it receives, and each unit passes
// `route.num_hops` links.
inline void ExpectConservesFlow(const Routes& routes, const Route& route,
                                NodeId source, NodeId target) {
  const Topology& topology = routes.topology();
  std::map<NodeId, double> sent, received;
  double hops = 0;
  for (const auto& [link, share] : SharesOf(routes, route)) {
    EXPECT_GT(share, 0) << topology.LinkName(link);
    EXPECT_LE(share, 1 + 1e-12) << topology.LinkName(link);
    sent[topology.link(link).source] += share;
    received[topology.link(link).target] += share;
    hops += share;
  }
  EXPECT_NEAR(hops, route.num_hops, 1e-9);
  EXPECT_NEAR(sent[source], 1, 1e-12);
  EXPECT_NEAR(received[target], 1, 1e-12);
  for (uint32_t i = 0; i < topology.num_nodes(); ++i) {
    const NodeId node(i);
    if (node == source || node == target) continue;
    if (topology.kind(node) == NodeKind::kGpu) {
      EXPECT_EQ(sent.count(node) + received.count(node), 0u)
          << "GPU " << i << " forwards";
    } else if (sent.count(node) + received.count(node) > 0) {
      EXPECT_NEAR(sent[node], received[node], 1e-12) << topology.NodeName(node);
    }
  }
}

inline void ExpectConservesFlow(const Routes& routes, const Route& route,
                                RankId source, RankId target) {
  ExpectConservesFlow(routes, route, Topology::NodeOf(source),
                      Topology::NodeOf(target));
}

}  // namespace astra::testing

#endif  // TESTS_TESTING_TOPOLOGIES_H_
