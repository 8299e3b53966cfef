#include "collectives/group_shape.h"

#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"

namespace astra {
namespace {

using ::astra::testing::Star;

GroupShape Shape(const std::vector<uint32_t>& indices) {
  const Topology topology = Star(/*num_servers=*/4, /*per_server=*/4);
  std::vector<RankId> ranks;
  for (const uint32_t index : indices) ranks.push_back(RankId(index));
  return ShapeOf(ranks, topology);
}

TEST(GroupShapeTest, CountsTheRanksOfAServer) {
  EXPECT_EQ(Shape({0, 1, 2, 3}), (GroupShape{4, 4}));
  EXPECT_EQ(Shape({0, 1, 4, 5, 12, 13}), (GroupShape{6, 2}));
  EXPECT_EQ(Shape({1, 5, 9, 13}), (GroupShape{4, 1}));
}

TEST(GroupShapeTest, AssumesNothingOfAnUnevenGroup) {
  EXPECT_EQ(Shape({0, 1, 4}), (GroupShape{3, 1}));
  EXPECT_EQ(Shape({0, 1, 4, 8}), (GroupShape{4, 1}));
  EXPECT_EQ(Shape({0, 4, 1, 5}), (GroupShape{4, 1}));  // Servers recur.
}

}  // namespace
}  // namespace astra
