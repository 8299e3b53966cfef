// Storage servers on a fabric: which switches they have cables to, that ranks
// reach them and they forward nothing, and that they change no route of ranks.

#include "topology/storage.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"
#include "topology/cluster.h"
#include "topology/cluster_part.h"
#include "topology/describe.h"
#include "topology/next_hops.h"
#include "topology/routes.h"
#include "topology/templates/registry.h"
#include "topology/topology_file.h"
#include "topology/topology_svg.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// GPUs 0 to 3, each a server; leaf 4 of the first two and leaf 5 of the others;
// spines 6 and 7 above both.
Topology TwoLeaves() {
  return Drawing(4, 1, 0, 4)
      .Cables({{0, 4}, {1, 4}, {2, 5}, {3, 5}})
      .Cables({{4, 6}, {4, 7}, {5, 6}, {5, 7}})
      .Build();
}

Topology With(const Topology& topology, uint32_t servers, uint32_t nics,
              uint32_t tier = 1) {
  return ValueOrDie(WithStorage(
      topology,
      {.servers = servers, .nics = nics, .cable = {"200Gbps"}, .tier = tier}));
}

std::vector<uint32_t> NeighboursOf(const Topology& topology, uint32_t node) {
  std::vector<uint32_t> neighbours;
  for (const LinkId link : topology.links_from(NodeId(node))) {
    EXPECT_EQ(topology.type(link).bandwidth, Gbps(200));
    neighbours.push_back(topology.link(link).target.index());
  }
  return neighbours;
}

TEST(StorageTest, NicsTakeTheSwitchesOfATierInTurn) {
  const Topology single = With(TwoLeaves(), 3, 1);
  EXPECT_EQ(single.num_gpus(), 4u);
  EXPECT_EQ(single.num_switches(), 4u);
  EXPECT_EQ(single.num_storage(), 3u);
  EXPECT_EQ(single.first_storage(), 8u);
  EXPECT_EQ(single.NodeName(NodeId(8)), "storage 8");
  EXPECT_THAT(NeighboursOf(single, 8), ElementsAre(4));
  EXPECT_THAT(NeighboursOf(single, 9), ElementsAre(5));
  EXPECT_THAT(NeighboursOf(single, 10), ElementsAre(4));
  const Topology both = With(TwoLeaves(), 2, 2, /*tier=*/2);
  EXPECT_THAT(NeighboursOf(both, 8), ElementsAre(6, 7));
  EXPECT_THAT(NeighboursOf(both, 9), ElementsAre(6, 7));
}

TEST(StorageTest, TiersAreThoseOfTheRanks) {
  const Topology topology = With(TwoLeaves(), 1, 2, /*tier=*/2);
  EXPECT_EQ(topology.tier(NodeId(4)), 1);
  EXPECT_EQ(topology.tier(NodeId(6)), 2);
  EXPECT_EQ(topology.tier(NodeId(8)), 0);
}

// Storage 8 joins both leaves as the spines do, and takes no message of others.
TEST(StorageTest, StorageForwardsNothing) {
  const Topology topology = With(TwoLeaves(), 1, 2);
  Routes routes(topology);
  const Route route = ValueOrDie(routes.Find(RankId(0), RankId(2)));
  ExpectConservesFlow(routes, route, RankId(0), RankId(2));
  for (const auto& [link, share] : SharesOf(routes, route)) {
    EXPECT_NE(topology.link(link).target, NodeId(8));
  }
  NextHops next_hops(topology);
  for (uint64_t key = 0; key < 64; ++key) {
    std::vector<LinkId> path;
    ASSERT_TRUE(next_hops.AppendEcmpPath(NodeId(0), NodeId(2), key, &path));
    ASSERT_EQ(path.size(), 4u);
    EXPECT_NE(topology.link(path[1]).target, NodeId(8));
  }
}

// A NIC below the leaf of the rank is two links away, one below the other leaf
// four; the rank takes the nearer one, there and back.
TEST(StorageTest, RanksReachStorageByTheNearestNic) {
  const Topology topology = With(TwoLeaves(), 2, 1);
  Routes routes(topology);
  NextHops next_hops(topology);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    for (const uint32_t storage : {8U, 9U}) {
      const uint32_t hops = (rank < 2) == (storage == 8) ? 2 : 4;
      for (const bool is_read : {false, true}) {
        const NodeId from(is_read ? storage : rank);
        const NodeId to(is_read ? rank : storage);
        const Route route = ValueOrDie(routes.FindNodes(from, to));
        EXPECT_EQ(route.num_hops, hops);
        EXPECT_EQ(routes.BottleneckBandwidth(route), Gbps(200));
        ExpectConservesFlow(routes, route, from, to);
        std::vector<LinkId> path;
        ASSERT_TRUE(next_hops.AppendEcmpPath(from, to, /*key=*/1, &path));
        EXPECT_EQ(path.size(), hops);
      }
    }
  }
  const Topology both = With(TwoLeaves(), 1, 2);
  Routes to_both(both);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(ValueOrDie(to_both.FindNodes(NodeId(rank), NodeId(8))).num_hops,
              2u);
  }
}

// By every template, with storage on each tier that it has.
TEST(StorageTest, StorageChangesNoRouteOfRanks) {
  for (const TopologyTemplate& design : TopologyTemplates()) {
    SCOPED_TRACE(std::string(design.name));
    ClusterParameters p = ValueOrDie(design.defaults({}));
    p.num_psws = 2;
    p.num_gpus = 4 * p.gpus_per_server;
    const Topology plain = ValueOrDie(BuildCluster(p));
    const Topology topology = With(plain, 3, 2, /*tier=*/2);
    Routes before(plain);
    Routes after(topology);
    for (uint32_t target = 1; target < plain.num_gpus(); ++target) {
      const auto of = [&](Routes& routes) {
        return SharesOf(routes,
                        ValueOrDie(routes.Find(RankId(0), RankId(target))));
      };
      ASSERT_EQ(of(after), of(before)) << target;
    }
    const NodeId storage(topology.first_storage());
    for (uint32_t rank = 0; rank < plain.num_gpus(); ++rank) {
      const NodeId gpu = Topology::NodeOf(RankId(rank));
      ExpectConservesFlow(after, ValueOrDie(after.FindNodes(gpu, storage)), gpu,
                          storage);
    }
  }
}

TEST(StorageTest, TheFileHoldsIt) {
  const std::string text = FormatTopology(With(TwoLeaves(), 2, 1));
  EXPECT_THAT(text, HasSubstr("10 1 0 6 10 H100\n4 5 6 7 8 9 \n"));
  EXPECT_TRUE(
      text.ends_with("4 8 200Gbps 500ns 0\n"
                     "5 9 200Gbps 500ns 0\n"
                     "storage_servers 2\n"));
  const Topology read = ValueOrDie(ParseTopology("file", text));
  EXPECT_EQ(FormatTopology(read), text);
  EXPECT_EQ(read.num_gpus(), 4u);
  EXPECT_EQ(read.kind(NodeId(9)), NodeKind::kStorage);
}

// Its links count to no tier, so that they leave oversubscription as it is.
TEST(StorageTest, ADescriptionCountsItApart) {
  EXPECT_EQ(DescribeTopology(With(TwoLeaves(), 2, 1)),
            "  GPUs             4 H100 in 4 servers of 1\n"
            "  tier 1 (ASW)     2 switches, 8 links, 1600 Gbps down, 1600 Gbps "
            "up, oversubscription 1:1\n"
            "  tier 2 (PSW)     2 switches, 4 links, 1600 Gbps down\n"
            "  storage          2 servers, 2 links, 400 Gbps\n"
            "  in all           10 nodes, 10 links\n"
            "  link make        400 Gbps, 500 ns, error rate 0\n"
            "  link make        200 Gbps, 500 ns, error rate 0\n");
}

TEST(StorageTest, ADrawingShowsIt) {
  const std::string svg = TopologySvg(With(TwoLeaves(), 2, 1));
  EXPECT_THAT(svg, HasSubstr("<title>4 GPUs in 4 servers, 4 switches, "));
  EXPECT_THAT(svg, HasSubstr("switch 5 to storage 9: 1 cable, 200 Gbps"));
}

// A job on GPUs 3 and 2 has the same storage servers, in the same order.
TEST(StorageTest, APartOfTheClusterHasIt) {
  const Topology whole = With(TwoLeaves(), 2, 1);
  const ClusterPart part = ValueOrDie(PartOfCluster(whole, {3, 2}, 1));
  EXPECT_EQ(part.topology.num_gpus(), 2u);
  EXPECT_EQ(part.topology.num_storage(), 2u);
  const uint32_t first = part.topology.first_storage();
  EXPECT_EQ(part.nodes[first], NodeId(8));
  EXPECT_EQ(part.nodes[first + 1], NodeId(9));
}

TEST(StorageTest, ATierNeedsASwitchForEachNic) {
  const auto says = [](const std::string& message) {
    return StatusIs(absl::StatusCode::kInvalidArgument, message);
  };
  EXPECT_THAT(
      WithStorage(TwoLeaves(), {.servers = 1, .cable = {"1Gbps"}, .tier = 3}),
      says("there is no switch of tier 3"));
  EXPECT_THAT(
      WithStorage(TwoLeaves(), {.servers = 1, .nics = 3, .cable = {"1Gbps"}}),
      says("3 NICs of a storage server need as many switches, but tier 1 has "
           "2"));
}

}  // namespace
}  // namespace astra::testing
