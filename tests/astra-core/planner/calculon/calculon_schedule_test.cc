#include "astra-core/planner/calculon/calculon_schedule.h"

#include <gtest/gtest.h>

#include "tests/astra-core/planner/calculon/calculon_test_inputs.h"

namespace astra {
namespace {

TEST(CalculonScheduleTest, LastProcessorsMayHaveABlockLess) {
  const CalculonSchedule schedule = CalculonScheduleOf(
      testing::CalculonInputsWith({{"pipeline_par", "48"},
                                   {"data_par", "16"},
                                   {"pipeline_interleaving", "3"}}));
  EXPECT_EQ(schedule.blocks, 3);           // 128 blocks are 2.67 x 48.
  EXPECT_EQ(schedule.missing_blocks, 16);  // 3 x 48 - 128.
  EXPECT_EQ(schedule.chunk_blocks, 1);
  EXPECT_EQ(schedule.micro_batches, 48);
}

TEST(CalculonScheduleTest, AChunkHasOneEdgeBlock) {
  const CalculonSchedule schedule = {
      .micro_batches = 5, .blocks = 6, .chunks = 2, .chunk_blocks = 3};
  EXPECT_EQ(schedule.OfChunk({10, 1}), 21);
  EXPECT_EQ(schedule.OfIteration({10, 1}), 210);
}

}  // namespace
}  // namespace astra
