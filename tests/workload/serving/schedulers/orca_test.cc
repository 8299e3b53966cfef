#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/serving/serving_run.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

// Room for two sequences of 20 positions: the third starts when the first ends,
// beside the decode of the second.
TEST(OrcaSchedulerTest, JoinsWholePromptsToDecodes) {
  BatchingOptions options = OrcaScheduler().defaults;
  options.num_blocks = 10;
  options.block_tokens = 4;
  options.max_sequence_tokens = 20;
  WrittenCost cost;
  const WrittenRun run = RunOf({.pool = {.scheduler = &OrcaScheduler(),
                                         .options = options,
                                         .cost = &cost}},
                               {{0, 6, 2}, {0, 9, 3}, {0, 7, 1}});
  EXPECT_THAT(cost.steps,
              ElementsAre("p6@0 p9@0 =2", "d2@15 =2", "p7@0 d1@10 =2"));
  EXPECT_EQ(run.steps[0].used_blocks, 10);
}

TEST(OrcaSchedulerTest, RefusesWhatIsLongerThanItReserves) {
  BatchingOptions options = OrcaScheduler().defaults;
  options.num_blocks = 1000;
  EXPECT_THAT(StepsOf(OrcaScheduler(), options, {{0, 4000, 97}}),
              ElementsAre("request 0 has 4000 prompt and 97 output tokens: a "
                          "replica of scheduler orca with sequences of at most "
                          "4096 tokens (max_sequence_tokens) serves at most "
                          "4096 in all"));
}

}  // namespace
}  // namespace astra::testing
