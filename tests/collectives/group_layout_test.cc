#include "collectives/group_layout.h"

#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "tests/testing/topologies.h"

namespace astra {
namespace {

using ::astra::testing::Drawing;
using ::astra::testing::Star;
using ::testing::ElementsAre;

std::vector<RankId> Ranks(const std::vector<uint32_t>& indices) {
  std::vector<RankId> ranks;
  for (const uint32_t index : indices) ranks.push_back(RankId(index));
  return ranks;
}

// On four servers of four GPUs with an NVSwitch each.
GroupLayout Layout(const std::vector<uint32_t>& ranks) {
  return GroupLayout::Of(Ranks(ranks), Star(4, 4));
}

TEST(GroupLayoutTest, GroupsThatLieAlikeAreEqual) {
  EXPECT_EQ(Layout({0, 1, 2, 3}), GroupLayout::Even(1, 4, 1));
  EXPECT_EQ(Layout({8, 9, 4, 5}), GroupLayout::Even(2, 2, 1));
  EXPECT_EQ(Layout({0, 1, 2, 8}),
            GroupLayout::Uneven(std::vector<uint32_t>{3, 1}, 1));
  EXPECT_EQ(Layout({0, 4, 8, 12}), GroupLayout::Even(4, 1, 1));
  EXPECT_NE(Layout({1, 5, 9, 13}), GroupLayout::Even(4, 1, 1));  // Rail 1.
}

// Group ranks 0 and 2 are on GPUs 6 and 5 of the first server.
TEST(GroupLayoutTest, OrdersTheRanksOfAServerByRail) {
  const GroupLayout layout = Layout({6, 1, 5, 13});
  EXPECT_EQ(layout.num_ranks(), 4u);
  EXPECT_EQ(layout.num_servers(), 3u);
  EXPECT_THAT(layout.ranks_of(0), ElementsAre(GroupRank(2), GroupRank(0)));
  EXPECT_THAT(layout.ranks_of(1), ElementsAre(GroupRank(1)));
  EXPECT_EQ(layout.rail_of(GroupRank(0)), 2u);
  EXPECT_EQ(layout.local_of(GroupRank(0)), 1u);
  EXPECT_EQ(layout.local_of(GroupRank(2)), 0u);
  EXPECT_EQ(layout.server_of(GroupRank(3)), 2u);
  EXPECT_EQ(layout.min_ranks_per_server(), 1u);
  EXPECT_EQ(layout.max_ranks_per_server(), 2u);
  EXPECT_FALSE(layout.is_even());
}

TEST(GroupLayoutTest, MembersAreRanksThenTheNvSwitchesOfEachServer) {
  const Topology topology = Star(4, 4);  // NVSwitches 16 to 19.
  const std::vector<RankId> ranks = Ranks({8, 9, 4, 5});
  const GroupLayout layout = GroupLayout::Of(ranks, topology);
  EXPECT_EQ(layout.num_switches(), 2u);
  EXPECT_EQ(layout.nv_switch(0, 0), GroupRank(4));
  EXPECT_EQ(layout.nv_switch(1, 0), GroupRank(5));
  EXPECT_THAT(MemberNodes(ranks, layout, topology),
              ElementsAre(NodeId(8), NodeId(9), NodeId(4), NodeId(5),
                          NodeId(18), NodeId(17)));
}

// NVSwitch 4 reaches all, 5 only GPU 0: no server of GPUs 0 and 1 can reduce.
TEST(GroupLayoutTest, AnNvSwitchCountsIfItReachesAllRanksOfTheServer) {
  const Topology topology = Drawing(4, 4, 2, 0)
                                .Cables({{0, 4}, {1, 4}, {2, 4}, {3, 4}})
                                .Cables({{0, 5}})
                                .Build();
  EXPECT_EQ(GroupLayout::Of(Ranks({0, 1}), topology),
            GroupLayout::Even(1, 2, 0));
  EXPECT_EQ(GroupLayout::Of(Ranks({1, 2}), topology).nv_switches_per_server(),
            1u);
}

// Servers 0 1 with NVSwitches 4 5, and 2 3 with NVSwitch 6.
TEST(GroupLayoutTest, NvSwitchesCountIfAllServersHaveAsMany) {
  const Topology topology =
      Drawing(4, 2, 3, 1)
          .Cables({{0, 4}, {1, 4}, {0, 5}, {1, 5}, {2, 6}, {3, 6}})
          .Cables({{0, 7}, {1, 7}, {2, 7}, {3, 7}})
          .Build();
  const std::vector<RankId> all = Ranks({0, 1, 2, 3});
  const GroupLayout layout = GroupLayout::Of(all, topology);
  EXPECT_EQ(layout.nv_switches_per_server(), 0u);
  EXPECT_EQ(MemberNodes(all, layout, topology).size(), 4u);
  EXPECT_EQ(GroupLayout::Of(Ranks({0, 1}), topology).nv_switch(0, 1),
            GroupRank(3));
}

TEST(GroupLayoutTest, ReducersComeAfterTheNvSwitches) {
  GroupLayout layout = GroupLayout::Even(2, 2, 1);
  layout.SetReducers({{2}, {2}, {}}, {0, 0, 1, 1});
  EXPECT_EQ(layout.num_switches(), 5u);
  EXPECT_EQ(layout.reducer(0), GroupRank(6));
  EXPECT_EQ(layout.reducer(layout.leaf_of(GroupRank(3))), GroupRank(7));
  EXPECT_NE(layout, GroupLayout::Even(2, 2, 1));
}

}  // namespace
}  // namespace astra
