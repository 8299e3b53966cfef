#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/serving/serving_run.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

BatchingOptions Small() {
  BatchingOptions options = LightllmScheduler().defaults;
  options.num_blocks = 100;
  options.max_waiting_steps = 2;
  return options;
}

// The second arrives at 5, amid the first step, and waits for two decodes.
TEST(LightllmSchedulerTest, AdmitsNowAndThen) {
  EXPECT_THAT(StepsOf(LightllmScheduler(), Small(), {{0, 6, 5}, {5, 4, 2}}),
              ElementsAre("p6@0 =1", "d1@6 =1", "d1@7 =1", "p4@0 =1",
                          "d2@12 =2", "d1@9 =1"));
}

// Sequences of 6 + 4 and 6 + 2 tokens, with 7 positions each after the first
// step and 3 and 1 to come: the peak is max(1 * 3 + 7, 2 * 1 + 14) = 16. It
// must stay below the memory, though both end with 18 positions in all.
TEST(LightllmSchedulerTest, AdmitsByThePeakOfMemory) {
  BatchingOptions options = Small();
  const std::vector<Asked> asked = {{0, 6, 4}, {0, 6, 2}};
  options.num_blocks = 17;
  EXPECT_THAT(StepsOf(LightllmScheduler(), options, asked),
              ElementsAre("p6@0 p6@0 =2", "d2@12 =2", "d1@7 =1", "d1@8 =1"));
  options.num_blocks = 16;
  EXPECT_THAT(StepsOf(LightllmScheduler(), options, asked),
              ElementsAre("p6@0 =1", "d1@6 =1", "d1@7 =1", "d1@8 =1", "p6@0 =1",
                          "d1@6 =1"));
}

// Three blocks of 8. The peak of two sequences of 4 + 7 tokens, 2 * 6 + 10, is
// below 24, but each needs a second block for its ninth position, and the last
// one gives way. It then knows 9 positions, one more than a step has.
TEST(LightllmSchedulerTest, PreemptedSequencesStartAgainInParts) {
  BatchingOptions options = Small();
  options.num_blocks = 3;
  options.block_tokens = 8;
  options.max_batched_tokens = 8;
  EXPECT_THAT(
      StepsOf(LightllmScheduler(), options, {{0, 4, 7}, {0, 4, 7}}),
      ElementsAre("p4@0 p4@0 =2", "d2@8 =2", "d2@10 =2", "d2@12 =2", "d2@14 =2",
                  "d1@8 =1", "d1@9 =1", "p8@0 =0", "d1@8 =1", "d1@9 =1"));
  options.max_batched_tokens = 3;
  EXPECT_THAT(
      StepsOf(LightllmScheduler(), options, {{0, 4, 1}}),
      ElementsAre("request 0 has 4 prompt and 1 output tokens: a replica of "
                  "scheduler lightllm with steps of at most 3 tokens "
                  "(max_batched_tokens) serves prompts of at most 3"));
}

}  // namespace
}  // namespace astra::testing
