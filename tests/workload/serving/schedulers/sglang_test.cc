#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/serving/serving_run.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

BatchingOptions Small() {
  BatchingOptions options = SglangScheduler().defaults;
  options.num_blocks = 1000;
  options.chunk_tokens = 8;
  return options;
}

// A step is prompts or decodes. The prompt that is cut goes on first, and the
// first sequence decodes only when no prompt is left.
TEST(SglangSchedulerTest, PromptsComeFirst) {
  EXPECT_THAT(
      StepsOf(SglangScheduler(), Small(), {{0, 6, 2}, {0, 12, 2}, {0, 3, 1}}),
      ElementsAre("p6@0 p2@0 =1", "p8@2 =0", "p2@10 p3@0 =2", "d2@18 =2"));
}

// As above, but the first decodes along with the second part of the prompt that
// is cut, which leaves 7 of 8 positions for it.
TEST(SglangSchedulerTest, MixedStepsDecodeToo) {
  BatchingOptions options = Small();
  options.mixed_chunk = true;
  EXPECT_THAT(
      StepsOf(SglangScheduler(), options, {{0, 6, 2}, {0, 12, 2}, {0, 3, 1}}),
      ElementsAre("p6@0 p2@0 =1", "p7@2 d1@6 =1", "p3@9 p3@0 =2", "d1@12 =1"));
}

// The first 8 tokens are equal; the prefix is found after the step.
TEST(SglangSchedulerTest, FindsPrefixesOfEarlierSteps) {
  EXPECT_THAT(StepsOf(SglangScheduler(), Small(),
                      {{0, 8, 1, {1, 2}}, {5, 10, 1, {1, 2}}}),
              ElementsAre("p8@0 =1", "p2@8 =1"));
}

// Each needs 6 + 4 positions. In the second step the first holds 6 and expects
// 3 more, of which 0.7 * 3 = 2.1 are kept: of 20 positions 11.9 are left, of 18
// only 9.9. Later it is 9.6 and 9.3.
TEST(SglangSchedulerTest, ReservesTheExpectedOutput) {
  BatchingOptions options = Small();
  options.chunk_tokens = 100;
  options.num_blocks = 20;
  EXPECT_THAT(
      StepsOf(SglangScheduler(), options, {{0, 6, 4}, {0, 6, 4}}),
      ElementsAre("p6@0 =1", "p6@0 =1", "d2@12 =2", "d2@14 =2", "d2@16 =2"));
  options.num_blocks = 18;
  EXPECT_THAT(StepsOf(SglangScheduler(), options, {{0, 6, 4}, {0, 6, 4}}),
              ElementsAre("p6@0 =1", "d1@6 =1", "d1@7 =1", "d1@8 =1", "p6@0 =1",
                          "d1@6 =1", "d1@7 =1", "d1@8 =1"));
}

// With a ratio of 0 nothing is kept for the first. After two decodes of both,
// 18 of 19 positions are taken and two more are needed. The second has the
// shorter output. Then the ratio is 1, and it starts when the first has ended.
TEST(SglangSchedulerTest, RetractsTheShortestOutput) {
  BatchingOptions options = Small();
  options.chunk_tokens = 100;
  options.num_blocks = 19;
  options.new_token_ratio = 0;
  options.min_new_token_ratio = 0;
  WrittenCost cost;
  const WrittenRun run = RunOf({.pool = {.scheduler = &SglangScheduler(),
                                         .options = options,
                                         .cost = &cost}},
                               {{0, 6, 8}, {25, 6, 4}});
  EXPECT_THAT(
      cost.steps,
      ElementsAre("p6@0 =1", "d1@6 =1", "d1@7 =1", "p6@0 =1", "d2@14 =2",
                  "d2@16 =2", "d1@10 =1", "d1@11 =1", "d1@12 =1", "p9@0 =1"));
  EXPECT_EQ(run.Of(1).times.preemptions, 1);
}

}  // namespace
}  // namespace astra::testing
