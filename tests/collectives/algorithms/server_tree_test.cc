#include "collectives/algorithms/server_tree.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

std::vector<uint32_t> NumChildren(const ServerTree& tree) {
  std::vector<uint32_t> num_children(tree.parent.size());
  for (const std::optional<uint32_t>& parent : tree.parent) {
    if (parent) ++num_children[*parent];
  }
  return num_children;
}

// By hand, as NCCL's comments draw the tree of 8: 0 over 4, 4 over 2 and 6, and
// those over 1, 3, 5, 7. The second tree is its mirror image.
TEST(ServerTreeTest, TheTreesOfEightServers) {
  EXPECT_THAT(
      MakeServerTree(8, 0).parent,
      ElementsAre(std::nullopt, Optional(2u), Optional(4u), Optional(2u),
                  Optional(0u), Optional(6u), Optional(4u), Optional(6u)));
  EXPECT_THAT(
      MakeServerTree(8, 1).parent,
      ElementsAre(Optional(1u), Optional(3u), Optional(1u), Optional(7u),
                  Optional(5u), Optional(3u), Optional(5u), std::nullopt));
}

// An odd number of servers shifts: 0 over 2 over 1 becomes 1 over 0 over 2.
TEST(ServerTreeTest, TheSecondTreeOfThreeServersIsShifted) {
  EXPECT_THAT(MakeServerTree(3, 0).parent,
              ElementsAre(std::nullopt, Optional(2u), Optional(0u)));
  EXPECT_THAT(MakeServerTree(3, 1).parent,
              ElementsAre(Optional(1u), std::nullopt, Optional(0u)));
}

TEST(ServerTreeTest, InnerServersOfOneTreeAreLeavesOfTheOther) {
  for (uint32_t n = 1; n <= 65; ++n) {
    const auto first = NumChildren(MakeServerTree(n, 0));
    const auto second = NumChildren(MakeServerTree(n, 1));
    for (uint32_t i = n % 2; i < n; ++i) {
      EXPECT_TRUE(first[i] == 0 || second[i] == 0) << i << " of " << n;
      EXPECT_LE(first[i] + second[i], 2u);
    }
  }
}

TEST(ServerTreeTest, ParentsComeBeforeChildrenWithinLogarithmicDepth) {
  for (const uint32_t n : {1u, 2u, 3u, 31u, 32u, 33u, 1000u}) {
    const ServerTree tree = MakeServerTree(n, 1);
    ASSERT_EQ(tree.order.size(), n);
    std::vector<uint32_t> depth(n);
    for (const uint32_t server : tree.order) {
      depth[server] = tree.parent[server] ? depth[*tree.parent[server]] + 1 : 1;
      EXPECT_LE(depth[server], 11u);
      EXPECT_TRUE(server == tree.order[0] || depth[server] > 1);
    }
  }
}

TEST(ServerTreeTest, TheChainsOfAllServersBeginOnOneRail) {
  const GroupLayout layout = GroupLayout::Even(3, 4);
  EXPECT_THAT(
      ServerChain(layout, 2, 5),
      ElementsAre(GroupRank(9), GroupRank(10), GroupRank(11), GroupRank(8)));
  EXPECT_EQ(TreeOf(1, 4), 0u);
  EXPECT_EQ(TreeOf(2, 4), 1u);
}

}  // namespace
}  // namespace astra
