#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/serving/serving_run.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

BatchingOptions Small() {
  BatchingOptions options = VllmV0Scheduler().defaults;
  options.num_blocks = 100;
  options.block_tokens = 4;
  options.max_batched_tokens = 10;
  return options;
}

// Prompts of 6 and 4 fill the budget; the third comes next, before the decodes.
TEST(VllmV0SchedulerTest, NewPromptsComeFirstAndWhole) {
  EXPECT_THAT(
      StepsOf(VllmV0Scheduler(), Small(), {{0, 6, 2}, {0, 4, 2}, {0, 5, 2}}),
      ElementsAre("p6@0 p4@0 =2", "p5@0 =1", "d3@15 =3"));
}

// Six blocks. The prompts take 4; the first token of each takes one more. When
// the first needs its next block, the second gives way.
TEST(VllmV0SchedulerTest, PreemptsTheLastArrival) {
  BatchingOptions options = Small();
  options.num_blocks = 6;
  options.max_batched_tokens = 20;
  EXPECT_THAT(StepsOf(VllmV0Scheduler(), options, {{0, 8, 6}, {0, 8, 6}}),
              ElementsAre("p8@0 p8@0 =2", "d2@16 =2", "d2@18 =2", "d2@20 =2",
                          "d2@22 =2", "d1@12 =1", "p13@0 =1"));
}

// The watermark is two of eight blocks: three for the second prompt leave one.
TEST(VllmV0SchedulerTest, AdmissionLeavesTheWatermark) {
  BatchingOptions options = Small();
  options.num_blocks = 8;
  options.watermark = 0.25;
  options.max_batched_tokens = 32;
  const std::vector<Asked> asked = {{0, 16, 1}, {0, 12, 1}};
  EXPECT_THAT(StepsOf(VllmV0Scheduler(), options, asked),
              ElementsAre("p16@0 =1", "p12@0 =1"));
  options.watermark = 0.1;
  EXPECT_THAT(StepsOf(VllmV0Scheduler(), options, asked),
              ElementsAre("p16@0 p12@0 =2"));
}

}  // namespace
}  // namespace astra::testing
