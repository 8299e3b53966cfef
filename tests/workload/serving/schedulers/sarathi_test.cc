#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/serving/serving_run.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

BatchingOptions Small() {
  BatchingOptions options = SarathiScheduler().defaults;
  options.num_blocks = 100;
  options.block_tokens = 4;
  options.chunk_tokens = 8;
  return options;
}

// Each step computes 8 positions while there are as many: decodes first, then
// the prompt that runs, then the next one.
TEST(SarathiSchedulerTest, FillsChunksBehindTheDecodes) {
  EXPECT_THAT(
      StepsOf(SarathiScheduler(), Small(), {{0, 6, 3}, {0, 12, 2}, {0, 3, 1}}),
      ElementsAre("p6@0 p2@0 =1", "p7@2 d1@6 =1", "p3@9 p3@0 d1@7 =3",
                  "d1@12 =1"));
}

// Four blocks: the second prompt needs four at once, so it waits.
TEST(SarathiSchedulerTest, TakesTheBlocksOfTheWholePrompt) {
  BatchingOptions options = Small();
  options.num_blocks = 5;
  WrittenCost cost;
  const WrittenRun run = RunOf({.pool = {.scheduler = &SarathiScheduler(),
                                         .options = options,
                                         .cost = &cost}},
                               {{0, 5, 1}, {0, 16, 1}});
  EXPECT_THAT(cost.steps, ElementsAre("p5@0 =1", "p8@0 =0", "p8@8 =1"));
  EXPECT_EQ(run.steps[1].used_blocks, 4);
}

// Both prompts fill the four blocks. The first decode takes a block from the
// second sequence, which then computes its 9 known positions in two chunks.
TEST(SarathiSchedulerTest, PreemptsTheLastArrival) {
  BatchingOptions options = Small();
  options.num_blocks = 4;
  options.chunk_tokens = 16;
  EXPECT_THAT(StepsOf(SarathiScheduler(), options, {{0, 8, 2}, {0, 8, 2}}),
              ElementsAre("p8@0 p8@0 =2", "d1@8 =1", "p9@0 =1"));
}

}  // namespace
}  // namespace astra::testing
