#include "topology/topology.h"

#include <cstdint>
#include <vector>

#include "tests/testing/topologies.h"

namespace astra {
namespace {

using ::astra::testing::Drawing;
using ::testing::ElementsAre;

// Two servers of two GPUs, each with an NVSwitch; a ToR per server; a spine.
//
//      8
//     / \          GPUs 0 1 | 2 3, NVSwitches 4 | 5, ToRs 6 | 7, spine 8
//    6   7
//   0 1 2 3
//    4   5
Topology TwoServers() {
  return Drawing(4, 2, 2, 3)
      .Cable(0, 4, "2880Gbps", "25ns")
      .Cable(1, 4, "2880Gbps", "25ns")
      .Cable(2, 5, "2880Gbps", "25ns")
      .Cable(3, 5, "2880Gbps", "25ns")
      .Cables({{0, 6}, {1, 6}, {2, 7}, {3, 7}, {6, 8}, {7, 8}})
      .Build();
}

TEST(TopologyTest, CountsWhatThereIs) {
  const Topology topology = TwoServers();
  EXPECT_EQ(topology.num_gpus(), 4u);
  EXPECT_EQ(topology.gpus_per_server(), 2u);
  EXPECT_EQ(topology.num_servers(), 2u);
  EXPECT_EQ(topology.num_nodes(), 9u);
  EXPECT_EQ(topology.gpu_type(), "H100");
  EXPECT_EQ(topology.links().size(), 20u);  // Two for each cable.
  EXPECT_EQ(topology.link_types().size(), 2u);
  EXPECT_EQ(topology.ServerOf(RankId(1)), 0u);
  EXPECT_EQ(topology.ServerOf(RankId(2)), 1u);
}

TEST(TopologyTest, GivesCableILinks2IAnd2IPlus1) {
  const Topology topology = TwoServers();
  const LinkId there(8), back(9);  // The fifth cable, 0 to 6.
  EXPECT_EQ(topology.link(there).source, NodeId(0));
  EXPECT_EQ(topology.link(there).target, NodeId(6));
  EXPECT_EQ(topology.link(back).source, NodeId(6));
  EXPECT_EQ(topology.link(back).target, NodeId(0));
  EXPECT_EQ(topology.type(back).bandwidth, Gbps(400));
  EXPECT_EQ(topology.type(LinkId(0)).latency, Nanoseconds(25));
}

TEST(TopologyTest, ListsTheLinksOfANodeInTheOrderOfTheFile) {
  const Topology topology = TwoServers();
  EXPECT_THAT(topology.links_from(NodeId(0)),
              ElementsAre(LinkId(0), LinkId(8)));
  EXPECT_THAT(topology.links_from(NodeId(6)),
              ElementsAre(LinkId(9), LinkId(11), LinkId(16)));
  EXPECT_THAT(topology.links_from(NodeId(8)),
              ElementsAre(LinkId(17), LinkId(19)));
}

TEST(TopologyTest, CountsTiersFromTheNearestGpu) {
  const Topology topology = TwoServers();
  std::vector<int> tiers;
  for (uint32_t i = 0; i < topology.num_nodes(); ++i) {
    tiers.push_back(topology.tier(NodeId(i)));
  }
  EXPECT_THAT(tiers, ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 2));
}

TEST(TopologyTest, TakesTheShortestWayUp) {
  // Switch 2 has a GPU of its own and one two links above others.
  const Topology topology =
      Drawing(2, 1, 0, 3).Cables({{0, 2}, {2, 3}, {3, 4}, {1, 4}}).Build();
  EXPECT_EQ(topology.tier(NodeId(2)), 1);
  EXPECT_EQ(topology.tier(NodeId(3)), 2);
  EXPECT_EQ(topology.tier(NodeId(4)), 1);
}

// A switch reached from no GPU but through an NVSwitch is two links away.
TEST(TopologyTest, CountsTiersThroughNvSwitches) {
  const Topology topology =
      Drawing(2, 1, 2, 1).Cables({{0, 2}, {1, 3}, {2, 4}, {3, 4}}).Build();
  EXPECT_EQ(topology.tier(NodeId(2)), 0);
  EXPECT_EQ(topology.tier(NodeId(4)), 2);
}

TEST(TopologyTest, NamesNodesAndLinks) {
  const Topology topology = TwoServers();
  EXPECT_EQ(topology.NodeName(NodeId(3)), "GPU 3");
  EXPECT_EQ(topology.NodeName(NodeId(5)), "NVSwitch 5");
  EXPECT_EQ(topology.NodeName(NodeId(8)), "switch 8 (tier 2)");
  EXPECT_EQ(topology.LinkName(LinkId(1)), "NVSwitch 4 -> GPU 0 at 2880 Gbps");
}

}  // namespace
}  // namespace astra
