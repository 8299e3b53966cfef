#include "collectives/reduction_tree.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "collectives/closed_form.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "topology/templates/registry.h"
#include "topology/two_level_cluster.h"

namespace astra {
namespace {

using ::astra::testing::Drawing;
using ::astra::testing::OneServer;
using ::astra::testing::Star;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

using Reducers = std::vector<GroupLayout::Reducer>;

std::vector<RankId> Ranks(const std::vector<uint32_t>& indices) {
  return {indices.begin(), indices.end()};
}

std::vector<RankId> AllRanks(const Topology& topology) {
  std::vector<RankId> ranks;
  for (uint32_t i = 0; i < topology.num_gpus(); ++i) ranks.emplace_back(i);
  return ranks;
}

ReductionTree TreeOf(const std::vector<uint32_t>& ranks,
                     const Topology& topology) {
  return ValueOrDie(FindReductionTree(Ranks(ranks), topology));
}

CollectiveAlgorithm AllReduce(std::string_view name) {
  return ValueOrDie(FindCollectiveAlgorithm(CollectiveKind::kAllReduce, name));
}

// GPUs 0 to 7, each a server; switches 8 to 11 of two each; 12 and 13 above the
// first two of these, 14 and 15 above the others; 16 and 17 above all.
Drawing TwoPods() {
  Drawing drawing(8, 1, 0, 10);
  for (uint32_t gpu = 0; gpu < 8; ++gpu) drawing.Cable(gpu, 8 + gpu / 2);
  return drawing.Cables({{8, 12}, {8, 13}, {9, 12}, {9, 13}})
      .Cables({{10, 14}, {10, 15}, {11, 14}, {11, 15}});
}

// 16 GPUs, NVSwitches 16 and 17, the switch for all; then NICs that are shared.
Topology TwoLevels(int64_t nics_per_server) {
  return ValueOrDie(BuildTwoLevelCluster({.num_gpus = 16,
                                          .gpus_per_server = 8,
                                          .nics_per_server = nics_per_server,
                                          .nvlink_gb_per_s = 450,
                                          .nic_gb_per_s = 50,
                                          .gpu_type = "H100"}));
}

TEST(ReductionTreeTest, OneSwitchForAllIsTheTree) {
  const Topology topology = TwoLevels(8);
  const ReductionTree tree =
      ValueOrDie(FindReductionTree(AllRanks(topology), topology));
  EXPECT_EQ(tree.reducers, Reducers(1));
  EXPECT_THAT(tree.nodes, ElementsAre(NodeId(18)));
  EXPECT_EQ(tree.leaf_of, std::vector<uint32_t>(16, 0));
}

TEST(ReductionTreeTest, NicsThatGpusShareDoNotReduce) {
  const Topology topology = TwoLevels(2);
  const ReductionTree tree =
      ValueOrDie(FindReductionTree(AllRanks(topology), topology));
  EXPECT_THAT(tree.nodes, ElementsAre(NodeId(18)));
  EXPECT_THAT(TreeOf({1, 2}, topology).nodes, ElementsAre(NodeId(18)));
}

// GPUs 0 to 31, NVSwitches to 35, rails 36 to 43, what is above them from 44.
TEST(ReductionTreeTest, RailsJoinAboveThemUnlessThereIsOne) {
  ClusterParameters parameters = ValueOrDie(SpectrumXTemplate().defaults({}));
  parameters.num_gpus = 32;
  const Topology topology = ValueOrDie(BuildCluster(parameters));
  const ReductionTree all =
      ValueOrDie(FindReductionTree(AllRanks(topology), topology));
  Reducers expected(8, {8});
  expected.emplace_back();
  EXPECT_EQ(all.reducers, expected);
  ASSERT_EQ(all.nodes.size(), 9u);
  EXPECT_EQ(all.nodes[0], NodeId(36));
  EXPECT_EQ(all.nodes[8], NodeId(44));
  for (uint32_t rank = 0; rank < 32; ++rank) {
    EXPECT_EQ(all.leaf_of[rank], rank % 8);
  }
  EXPECT_THAT(TreeOf({3, 11, 27}, topology).nodes, ElementsAre(NodeId(39)));
}

TEST(ReductionTreeTest, PodsJoinInTheThirdTier) {
  const Topology topology =
      TwoPods().Cables({{12, 16}, {13, 17}, {14, 16}, {15, 17}}).Build();
  const ReductionTree tree = TreeOf({7, 0, 2, 4, 5, 1}, topology);
  EXPECT_THAT(tree.nodes,
              ElementsAre(NodeId(8), NodeId(9), NodeId(10), NodeId(11),
                          NodeId(12), NodeId(14), NodeId(16)));
  EXPECT_EQ(tree.reducers, (Reducers{{4}, {4}, {5}, {5}, {6}, {6}, {}}));
  EXPECT_THAT(tree.leaf_of, ElementsAre(3, 0, 1, 2, 2, 0));
  EXPECT_THAT(TreeOf({4, 6}, topology).nodes,
              ElementsAre(NodeId(10), NodeId(11), NodeId(14)));
}

TEST(ReductionTreeTest, PassesOverALowerSwitchThatDoesNotReachAllLeaves) {
  const Topology topology =
      TwoPods().Cables({{12, 16}, {13, 16}, {13, 17}, {15, 17}}).Build();
  EXPECT_THAT(
      TreeOf({0, 6}, topology).nodes,
      ElementsAre(NodeId(8), NodeId(11), NodeId(13), NodeId(15), NodeId(17)));
}

TEST(ReductionTreeTest, SwitchesOfOneTierMayJoinDirectly) {
  Drawing drawing(4, 1, 0, 2);
  const Topology topology =
      drawing.Cables({{0, 4}, {1, 4}, {2, 5}, {3, 5}, {4, 5}}).Build();
  const ReductionTree tree = TreeOf({0, 1, 2, 3}, topology);
  EXPECT_THAT(tree.nodes, ElementsAre(NodeId(5), NodeId(4)));
  EXPECT_EQ(tree.reducers, (Reducers{{1}, {}}));
}

TEST(ReductionTreeTest, RefusesAGpuWithoutNic) {
  EXPECT_THAT(
      FindReductionTree(Ranks({2, 0}), OneServer(4, "2880Gbps", "25ns")),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "GPU 2 has no NIC: it is linked to no switch of the fabric, "
               "which is to reduce"));
}

TEST(ReductionTreeTest, RefusesRailsThatNothingJoins) {
  // Two servers of two GPUs, and a switch for each rail.
  Drawing drawing(4, 2, 2, 2);
  const Topology topology = drawing.Cables({{0, 4}, {1, 4}, {2, 5}, {3, 5}})
                                .Cables({{0, 6}, {2, 6}, {1, 7}, {3, 7}})
                                .Build();
  EXPECT_THAT(FindReductionTree(AllRanks(topology), topology),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "no switch is above all of the 2 switches, switch 6 "
                       "(tier 1) to switch 7 (tier 1), that the group's NICs "
                       "are linked to"));
  EXPECT_THAT(TreeOf({1, 3}, topology).nodes, ElementsAre(NodeId(7)));
}

TEST(PlaceGroupTest, PutsReducersBehindTheNvSwitches) {
  const Topology topology = Star(2, 2);  // NVSwitches 4 and 5, switch 6.
  const PlacedGroup ring =
      ValueOrDie(PlaceGroup(AllReduce("ring"), Ranks({0, 2}), topology));
  EXPECT_TRUE(ring.layout.reducers().empty());
  EXPECT_THAT(ring.nodes,
              ElementsAre(NodeId(0), NodeId(2), NodeId(4), NodeId(5)));
  const PlacedGroup collnet = ValueOrDie(
      PlaceGroup(AllReduce("collnet_chain"), Ranks({0, 2}), topology));
  EXPECT_EQ(collnet.layout.reducers().size(), 1u);
  EXPECT_EQ(collnet.nodes[collnet.layout.reducer(0).index()], NodeId(6));
  EXPECT_EQ(collnet.nodes.size(), 5u);
}

// Of S bytes, each of the four NICs of a server carries a quarter each way. On
// an NVLink, a head receives a quarter from three ranks and returns the sum,
// while it sends the other heads their quarters: 6/4 S at 100 GB/s.
TEST(CollnetOnLinksTest, EachNicCarriesItsShareOnce) {
  const Topology topology = Star(2, 4);
  Routes routes(topology);
  const ClosedForms forms = ValueOrDie(
      LayOnLinks(AllReduce("collnet_direct"), {AllRanks(topology)}, routes));
  for (uint32_t i = 0; i < topology.links().size(); ++i) {
    const Link& link = topology.link(LinkId(i));
    const bool is_nvlink = topology.kind(link.source) == NodeKind::kNvSwitch ||
                           topology.kind(link.target) == NodeKind::kNvSwitch;
    EXPECT_NEAR(forms.link_bytes_per_byte[i], is_nvlink ? 1.5 : 0.25, 1e-9);
  }
  EXPECT_NEAR(forms.groups[0].form.ps_per_byte, 15, 1e-9);
}

TEST(CollnetOnLinksTest, GroupsBelowDifferentSwitchesCostTheSame) {
  const Topology topology =
      TwoPods().Cables({{12, 16}, {13, 17}, {14, 16}, {15, 17}}).Build();
  Routes routes(topology);
  const ClosedForms forms = ValueOrDie(
      LayOnLinks(AllReduce("collnet_direct"),
                 {Ranks({0, 2}), Ranks({4, 6}), Ranks({1, 5})}, routes));
  EXPECT_EQ(forms.groups[0].form, forms.groups[1].form);
  // Two links, or three, up and down again, of 500 ns each.
  EXPECT_EQ(forms.groups[0].form.latency, 4 * Nanoseconds(500));
  EXPECT_EQ(forms.groups[2].form.latency, 6 * Nanoseconds(500));
}

}  // namespace
}  // namespace astra
