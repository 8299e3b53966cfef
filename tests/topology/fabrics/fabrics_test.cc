// The contract of every design of a fabric: what it draws is connected, every
// rank reaches the others without losing a byte, and the file holds all of it;
// and its known figures: switches, cables, longest route, bisection.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/server_types.h"
#include "tests/testing/topologies.h"
#include "topology/cluster_part.h"
#include "topology/fabrics/fabric_file.h"
#include "topology/fabrics/registry.h"
#include "topology/routes.h"
#include "topology/topology_file.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Case {
  std::string name;
  std::string text;  // Behind the first line.
  uint32_t gpus;
  uint32_t switches;  // NVSwitches among them.
  uint32_t cables;
  uint32_t longest;  // Links of the longest shortest route.
  // Cables between switches that have to be cut between the GPUs of the lower
  // half of the numbers and the others.
  uint32_t bisection;
};

Topology Draw(const std::string& text) {
  Warnings warnings;
  const FabricSpec spec = ValueOrDie(ParseFabric(
      "f", "simai_fabric: 1\n" + text, SmallServerTypes(), &warnings));
  return ValueOrDie(DrawFabric(spec));
}

class FabricContractTest : public ::testing::TestWithParam<Case> {
 protected:
  const Topology topology_ = Draw(GetParam().text);
};

TEST_P(FabricContractTest, HasItsNodesAndCables) {
  EXPECT_EQ(topology_.num_gpus(), GetParam().gpus);
  EXPECT_EQ(topology_.num_nodes() - topology_.num_gpus(), GetParam().switches);
  EXPECT_EQ(topology_.links().size(), 2 * GetParam().cables);
}

TEST_P(FabricContractTest, EveryRankReachesTheOthers) {
  Routes routes(topology_);
  uint32_t longest = 0;
  for (uint32_t source = 0; source < topology_.num_gpus(); ++source) {
    for (uint32_t target = 0; target < topology_.num_gpus(); ++target) {
      if (source == target) continue;
      SCOPED_TRACE(std::to_string(source) + " to " + std::to_string(target));
      const Route route =
          ValueOrDie(routes.Find(RankId(source), RankId(target)));
      ExpectConservesFlow(routes, route, RankId(source), RankId(target));
      longest = std::max(longest, route.num_hops);
      if (HasFailure()) return;
    }
  }
  EXPECT_EQ(longest, GetParam().longest);
}

// Most units that cables between switches carry from the first half of the GPUs
// to the second, one unit on each cable; augmenting paths, breadth first.
uint32_t MostFlow(const Topology& topology) {
  const uint32_t half = topology.num_gpus() / 2;
  const auto is_wire = [&](LinkId link) {
    return topology.kind(topology.link(link).source) == NodeKind::kGpu ||
           topology.kind(topology.link(link).target) == NodeKind::kGpu;
  };
  std::vector<int> left(topology.links().size(), 1);
  for (uint32_t total = 0;; ++total) {
    std::vector<LinkId> way(topology.num_nodes(), LinkId());
    std::vector<bool> is_seen(topology.num_nodes());
    std::vector<NodeId> queue;
    for (uint32_t gpu = 0; gpu < half; ++gpu) {
      queue.emplace_back(gpu);
      is_seen[gpu] = true;
    }
    NodeId found = NodeId(0);
    for (size_t i = 0; i < queue.size() && found.index() < half; ++i) {
      for (const LinkId link : topology.links_from(queue[i])) {
        const NodeId next = topology.link(link).target;
        const bool is_inside = topology.kind(next) == NodeKind::kNvSwitch;
        if (is_inside || is_seen[next.index()]) continue;
        if (!is_wire(link) && left[link.index()] == 0) continue;
        is_seen[next.index()] = true;
        way[next.index()] = link;
        queue.push_back(next);
        if (next.index() < topology.num_gpus()) found = next;
      }
    }
    if (found.index() < half) return total;
    for (NodeId at = found; at.index() >= half;) {
      const LinkId link = way[at.index()];
      --left[link.index()];
      ++left[Reverse(link).index()];
      at = topology.link(link).source;
    }
  }
}

TEST_P(FabricContractTest, HasItsBisection) {
  if (GetParam().bisection == 0) return;  // One switch joins all.
  EXPECT_EQ(MostFlow(topology_), GetParam().bisection);
}

TEST_P(FabricContractTest, TheFileHoldsAllOfIt) {
  const std::string text = FormatTopology(topology_);
  const Topology read = ValueOrDie(ParseTopology("file", text));
  EXPECT_EQ(FormatTopology(read), text);
}

const Case kCases[] = {
    // 16 hosts, 8 edge, 8 aggregation and 4 core switches of four ports; each
    // has 2 down and 2 up, for half of the hosts 8 cables.
    {"fat_tree_of_four_ports",
     "servers: {count: 16, gpus: 1}\n"
     "fabric: {kind: fat-tree, tiers: [{down: 2}, {down: 2}, {down: 4}]}\n",
     16, 20, 16 + 16 + 16, 6, 8},
    // 4 leaves of 8 NICs with 4 cables up: half of their rate.
    {"oversubscribed",
     "servers: {count: 8, gpus: 4}\n"
     "fabric: {kind: fat-tree, tiers: [{down: 8, oversubscription: 2}, "
     "{down: 4}]}\n",
     32, 8 + 8, 32 + 32 + 16, 4, 8},
    // 4 rails of 2 segments: 8 leaves, below 2 spines of twice the rate.
    {"rails",
     "servers: {count: 4, gpus: 4}\n"
     "fabric: {kind: fat-tree, rails: true, tiers: [{down: 2, rate: 400Gbps, "
     "up: 2}, {down: 8}]}\n",
     16, 4 + 10, 16 + 16 + 16, 4, 8},
    // Each NIC has a port to each of two planes of 2 leaves and 2 spines.
    {"planes",
     "servers: {count: 4, gpus: 1}\n"
     "nics: {planes: 2, rate: 200Gbps}\n"
     "fabric: {kind: fat-tree, tiers: [{down: 2}, {down: 2}]}\n",
     4, 8, 2 * (4 + 4), 4, 4},
    // 64 switches with 3 cables each; 4 + 4 rows of 4 x 4 are cut, twice.
    {"torus_4x4x4",
     "servers: {count: 64, gpus: 1}\n"
     "fabric: {kind: torus, shape: [4, 4, 4]}\n",
     64, 64, 64 + 192, 2 + 6, 32},
    {"torus_2x3",
     "servers: {count: 6, gpus: 1}\nfabric: {kind: torus, shape: [2, 3]}\n", 6,
     6, 6 + 3 + 6, 2 + 2, 5},
    // Each of 16 switches has 3 + 3 cables; 2 x 2 of each column are cut.
    {"hyperx_4x4",
     "servers: {count: 32, gpus: 1}\nfabric: {kind: hyperx, shape: [4, 4]}\n",
     32, 16, 32 + 48, 4, 16},
    // 5 groups of 2 leaves and 2 spines; a cable between every two groups. The
    // halves are cut at 4 cables of the outer groups, and in the third group at
    // a cable of each leaf, to the spine that leads to the other half.
    {"dragonfly_plus",
     "servers: {count: 20, gpus: 1}\n"
     "fabric: {kind: dragonfly-plus, leaves_per_group: 2, spines_per_group: 2, "
     "nics_per_leaf: 2, global_per_spine: 2, global: {latency: 2us}}\n",
     20, 20, 20 + 20 + 10, 5, 6},
    // A rack of 16 GPUs in 4 trays with 2 switches each, below 3 that join
    // them.
    {"two_levels_of_nvlink",
     "servers: {count: 1, gpus: 16, nvlink: {switches: 2, trays: 4, "
     "second_level: 3}}\n"
     "fabric: {kind: fat-tree, tiers: [{down: 16}]}\n",
     16, 8 + 3 + 1, 32 + 24 + 16, 4, 0},
    // Two sites of 2 leaves and 2 spines, with 2 routers each.
    {"sites",
     "servers: {count: 8, gpus: 1}\n"
     "fabric: {kind: fat-tree, tiers: [{down: 2}, {down: 2}]}\n"
     "sites: {count: 2, routers: 2, rate: 100Gbps, latency: 5ms}\n",
     8, 12, 8 + 8 + 8 + 2, 7, 2},
    // 4 servers with an NVSwitch and 2 NICs, each of 2 GPUs; 2 leaves.
    {"shared_nics",
     "servers: {type: quad, count: 4}\n"
     "fabric: {kind: fat-tree, rails: true, tiers: [{down: 4, up: 2}, {down: "
     "2}]}\n",
     16, 4 * (1 + 2) + 2 + 2, 4 * (4 + 4 + 2) + 2 * 2, 6, 4},
    // 2 servers of 2 GPUs that a cable joins.
    {"cables_between_gpus",
     "servers: {type: pair, count: 2}\n"
     "nics: {rate: 100Gbps}\n"
     "fabric: {kind: fat-tree, tiers: [{down: 4}]}\n",
     4, 1, 2 + 4, 2, 0},
};

INSTANTIATE_TEST_SUITE_P(All, FabricContractTest, ::testing::ValuesIn(kCases),
                         [](const auto& named) { return named.param.name; });

TEST(FabricTest, EveryDesignIsCovered) {
  for (const FabricKind& kind : FabricKinds()) {
    const std::string text = "kind: " + std::string(kind.name);
    EXPECT_TRUE(std::any_of(std::begin(kCases), std::end(kCases),
                            [&](const Case& each) {
                              return each.text.find(text) != std::string::npos;
                            }))
        << kind.name;
  }
}

// Rails without a tier above join GPUs of equal position only.
TEST(FabricTest, RailOnlyNetworksJoinRails) {
  const Topology topology = Draw(
      "servers: {count: 4, gpus: 2}\n"
      "fabric: {kind: fat-tree, rails: true, tiers: [{down: 4}]}\n");
  Routes routes(topology);
  EXPECT_TRUE(routes.Find(RankId(0), RankId(6)).ok());
  EXPECT_FALSE(routes.Find(RankId(0), RankId(7)).ok());
}

TEST(FabricTest, ACableMayDifferFromTheDesign) {
  const Topology topology = Draw(
      "servers: {count: 4, gpus: 1}\n"
      "fabric: {kind: torus, shape: [4]}\n"
      "overrides: [{link: [5, 4], rate: 100Gbps}, {link: [0, 4], error_rate: "
      "1e-6}]\n");
  EXPECT_EQ(topology.type(LinkId(0)).text, "400Gbps 500ns 1e-6");
  EXPECT_EQ(topology.type(LinkId(8)).text, "100Gbps 500ns 0");
}

// A part of a cluster of racks has the NVSwitches of its own racks, of both
// levels, and no others.
TEST(FabricTest, APartHasTheNvSwitchesOfItsServers) {
  const Topology topology = Draw(
      "servers: {count: 2, gpus: 4, nvlink: {trays: 2, switches: 2, "
      "second_level: 2}}\n"
      "fabric: {kind: fat-tree, tiers: [{down: 8}]}\n");
  const ClusterPart part = ValueOrDie(RangeOfCluster(topology, 4, 4));
  EXPECT_EQ(part.topology.num_nodes(), 4u + 6 + 1);
  EXPECT_EQ(part.nodes[4], NodeId(8 + 6));
}

std::string ErrorOf(const std::string& text) {
  const std::string contents = "simai_fabric: 1\n" + text;
  Warnings warnings;
  const absl::StatusOr<FabricSpec> spec =
      ParseFabric("f", contents, SmallServerTypes(), &warnings);
  if (!spec.ok()) return std::string(spec.status().message());
  const absl::Status error = DrawFabric(*spec).status();
  return std::string(AtFabricField("f", contents, error).message());
}

TEST(FabricTest, MistakesAreNamed) {
  const std::string servers = "servers: {count: 8, gpus: 1}\n";
  EXPECT_EQ(ErrorOf(servers + "fabric: {kind: fat-tre, tiers: [{down: 8}]}\n"),
            "f:3:16: unknown kind \"fat-tre\"; did you mean \"fat-tree\"? "
            "(known: dragonfly-plus, fat-tree, hyperx, torus)");
  EXPECT_EQ(ErrorOf(servers + "fabric: {kind: fat-tree, tiers: [{down: 3, "
                              "oversubscription: 2}, {down: 8}]}\n"),
            "f:3:62: 3 ports down of 400Gbps need 1.5 ports up of 400Gbps: "
            "expected a whole number");
  EXPECT_EQ(ErrorOf(servers + "fabric: {kind: fat-tree, tiers: [{down: 4}]}\n"),
            "f:3:9: one tier of 4 ports does not hold 8 NICs");
  EXPECT_EQ(
      ErrorOf(servers +
              "fabric: {kind: fat-tree, tiers: [{down: 2}, {down: 2}]}\n"),
      "f:3:9: 4 leaves, but the second tier has 2 ports down");
  EXPECT_EQ(ErrorOf(servers + "fabric: {kind: torus, shape: [3]}\n"),
            "f:3:9: 8 NICs do not divide among 3 switches");
  EXPECT_EQ(ErrorOf(servers + "fabric: {kind: torus, shape: [3]}\n"
                              "sites: {count: 2}\n"),
            "f:3:9: 4 NICs do not divide among 3 switches");
  EXPECT_EQ(ErrorOf(servers + "fabric: {kind: torus, shape: [1]}\n"),
            "f:3:30: expected lengths of 2 or more, not \"1\"");
  EXPECT_EQ(ErrorOf(servers + "fabric: {kind: torus, shape: [4]}\n"
                              "overrides: [{link: [0, 1], rate: 1Gbps}]\n"),
            "f:4:13: the design has no cable between nodes 0 and 1");
  EXPECT_THAT(ErrorOf("servers: {count: 2, gpus: 3, nvlink: {trays: 2}}\n"
                      "fabric: {kind: torus, shape: [2]}\n"),
              HasSubstr("3 GPUs do not divide into 2 trays"));
}

// Storage servers take the NICs of the file unless they have a cable of their
// own; leaves 8 and 9 are one after the other.
TEST(FabricTest, StorageStandsBehindTheFabric) {
  const Topology topology = Draw(
      "servers: {count: 4, gpus: 2, nvlink: {switches: 0}}\n"
      "nics: {rate: 100Gbps}\n"
      "fabric: {kind: fat-tree, tiers: [{down: 4}, {down: 2}]}\n"
      "storage: {servers: 3, rate: 200Gbps}\n");
  EXPECT_EQ(topology.num_gpus(), 8u);
  EXPECT_EQ(topology.num_storage(), 3u);
  const LinkId first = topology.links_from(NodeId(topology.first_storage()))[0];
  EXPECT_EQ(topology.link(first).target, NodeId(8));
  EXPECT_EQ(topology.type(first).bandwidth, Gbps(200));
  const std::string servers = "servers: {count: 2, gpus: 4}\n";
  const std::string fabric = "fabric: {kind: fat-tree, tiers: [{down: 8}]}\n";
  EXPECT_EQ(ErrorOf(servers + fabric + "storage: {nics: 1}\n"),
            "f:4:10: the storage has no \"servers\"");
  EXPECT_EQ(ErrorOf(servers + fabric + "storage: {servers: 1, attach: leaf}\n"),
            "f:4:31: unknown field of the storage \"attach\" (known: "
            "error_rate, latency, nics, rate, servers, tier)");
  EXPECT_EQ(
      ErrorOf(servers + fabric + "storage: {servers: 1, nics: 2}\n"),
      "f:4:10: 2 NICs of a storage server need as many switches, but tier "
      "1 has 1");
  EXPECT_EQ(ErrorOf(servers + fabric + "storage: {servers: 1, tier: 2}\n"),
            "f:4:10: there is no switch of tier 2");
}

// What a file says beside a type of server counts, and is told.
TEST(FabricTest, KeysGoBeforeTheTypeOfServer) {
  Warnings warnings;
  const FabricSpec spec = ValueOrDie(
      ParseFabric("f",
                  "simai_fabric: 1\n"
                  "servers: {type: quad, count: 2, gpus: 3, gpu_type: A100,\n"
                  "          nvlink: {switches: 2}}\n"
                  "nics: {rate: 100Gbps, latency: 500ns}\n"
                  "fabric: {kind: fat-tree, tiers: [{down: 8}]}\n",
                  SmallServerTypes(), &warnings));
  EXPECT_THAT(warnings,
              ElementsAre("f:2:39: gpus: 3 in place of 4 of quad",
                          "f:4:14: rate: 100Gbps in place of 200Gbps of quad"));
  EXPECT_EQ(spec.servers.nvlink.rate, "1200Gbps");
  EXPECT_EQ(spec.servers.nvlink.latency, "250ns");
  ASSERT_EQ(spec.servers.nics.size(), 2u);
  EXPECT_THAT(spec.servers.nics[0].gpus, ElementsAre(0, 1));
  EXPECT_THAT(spec.servers.nics[1].gpus, ElementsAre(2));
}

TEST(FabricTest, MistakesBesideATypeOfServerAreNamed) {
  const std::string fabric = "fabric: {kind: fat-tree, tiers: [{down: 8}]}\n";
  EXPECT_EQ(ErrorOf("servers: {count: 2, type: five}\n" + fabric),
            "f:2:27: no such type");
  EXPECT_EQ(ErrorOf("servers: {count: 2, type: quad, gpus: 8}\n" + fabric),
            "f:2:39: gpus is \"8\": expected a whole number from 1 to 4");
  EXPECT_EQ(ErrorOf("servers: {count: 2, type: pair}\n" + fabric),
            "f:1:1: pair has no NICs: expected the rate of NICs");
  EXPECT_EQ(ErrorOf("servers: {count: 2, type: pair, nvlink: {rate: 1Gbps}}\n" +
                    fabric),
            "f:2:41: no effect: pair has NVLink from GPU to GPU");
  EXPECT_EQ(ErrorOf("servers: {count: 2}\n"
                    "nics: {gpus_per_nic: 3}\n" +
                    fabric),
            "f:3:22: 8 GPUs do not divide among NICs of 3");
}

}  // namespace
}  // namespace astra::testing
