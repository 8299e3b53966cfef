#include "astra-core/engine/simai_executor.h"

#include "gtest/gtest.h"
#include "tests/testing/small_clusters.h"

namespace astra {
namespace {

using ::astra::testing::Star;

constexpr LaterFlows kNone{};

TEST(SimaiExecutorTest, OfAReduceScatterAllButTheFirstStepIsProcessed) {
  const GroupLayout layout = GroupLayout::Even(2, 2);
  const MessageCosts costs = SimaiExecutorCosts(
      "simai_ring", CollectiveKind::kReduceScatter, ParallelDimension::kTensor,
      layout, Star(2, 2), {.per_message = Nanoseconds(2000)});
  EXPECT_EQ(costs.per_message, Nanoseconds(2010));
  EXPECT_EQ(costs.later.begin, 2u * 4u);
  EXPECT_GT(costs.later.end, 2u * 4u * 3u);
  EXPECT_EQ(costs.later.delay, Nanoseconds(30));
}

// Star(2, 2) has 4 GPUs and 2 NVSwitches, so SimAI takes a group of 2 for 3.
TEST(SimaiExecutorTest, OfAnAllReduceOnOneRingTheFirstCycleIsProcessed) {
  const auto later = [](const GroupLayout& layout,
                        ParallelDimension dimension) {
    return SimaiExecutorCosts("simai_ring", CollectiveKind::kAllReduce,
                              dimension, layout, Star(2, 2), {})
        .later;
  };
  const GroupLayout one_ring = GroupLayout::Even(2, 1);
  EXPECT_EQ(later(one_ring, ParallelDimension::kTensor),
            (LaterFlows{2, 4, Nanoseconds(30)}));
  EXPECT_EQ(later(one_ring, ParallelDimension::kData),
            (LaterFlows{2, 6, Nanoseconds(30)}));
  EXPECT_EQ(later(GroupLayout::Even(2, 2), ParallelDimension::kData), kNone);
}

TEST(SimaiExecutorTest, OtherCollectivesPassTheMemoryBusOnly) {
  for (const auto& [algorithm, kind] :
       {std::pair("simai_ring", CollectiveKind::kAllGather),
        std::pair("simai_direct", CollectiveKind::kAllToAll),
        std::pair("simai_nvls", CollectiveKind::kAllReduce)}) {
    const MessageCosts costs =
        SimaiExecutorCosts(algorithm, kind, ParallelDimension::kTensor,
                           GroupLayout::Even(1, 3), Star(1, 3), {});
    EXPECT_EQ(costs, (MessageCosts{.per_message = Nanoseconds(10)}));
  }
}

}  // namespace
}  // namespace astra
