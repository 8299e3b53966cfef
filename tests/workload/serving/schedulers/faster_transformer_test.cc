#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/serving/serving_run.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

// There is room for the third when the first ends, but the batch goes on.
TEST(FasterTransformerSchedulerTest, BatchEndsBeforeTheNextBegins) {
  BatchingOptions options = FasterTransformerScheduler().defaults;
  options.num_blocks = 10;
  options.block_tokens = 4;
  options.max_sequence_tokens = 20;
  EXPECT_THAT(StepsOf(FasterTransformerScheduler(), options,
                      {{0, 6, 2}, {0, 9, 3}, {0, 7, 1}}),
              ElementsAre("p6@0 p9@0 =2", "d2@15 =2", "d1@10 =1", "p7@0 =1"));
}

}  // namespace
}  // namespace astra::testing
