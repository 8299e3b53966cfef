#include "astra-core/base/collective_kind.h"

#include <string_view>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

// nccl-tests, doc/PERFORMANCE.md: 2 (n - 1) / n and (n - 1) / n, here of 8.
TEST(BusBandwidthFactorTest, IsThatOfNcclTests) {
  EXPECT_EQ(BusBandwidthFactor(CollectiveKind::kAllReduce, 8), 1.75);
  EXPECT_EQ(BusBandwidthFactor(CollectiveKind::kAllGather, 8), 0.875);
  EXPECT_EQ(BusBandwidthFactor(CollectiveKind::kReduceScatter, 8), 0.875);
  EXPECT_EQ(BusBandwidthFactor(CollectiveKind::kAllToAll, 8), 0.875);
  EXPECT_EQ(BusBandwidthFactor(CollectiveKind::kSendRecv, 2), 1);
}

TEST(IsAllToAllTest, DispatchAndCombineAreAllToAlls) {
  std::vector<std::string_view> names;
  for (const CollectiveKind kind : kCollectiveKinds) {
    if (!IsAllToAll(kind)) continue;
    names.push_back(Name(kind));
    EXPECT_EQ(BusBandwidthFactor(kind, 8), 0.875) << Name(kind);
  }
  EXPECT_THAT(names,
              ::testing::ElementsAre("all-to-all", "dispatch", "combine"));
}

}  // namespace
}  // namespace astra
