#include "astra-core/base/collective_kind.h"

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

}  // namespace
}  // namespace astra
