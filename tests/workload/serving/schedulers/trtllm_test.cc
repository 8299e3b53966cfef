#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/serving/serving_run.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

BatchingOptions Small() {
  BatchingOptions options = TrtllmScheduler().defaults;
  options.num_blocks = 6;
  options.block_tokens = 4;
  options.max_batched_tokens = 10;
  return options;
}

// 6 + 3 tokens are 3 blocks and 5 + 8 are 4, of 6: the second waits for the
// first, though its prompt would fit. In the other case it waits for the budget
// of 10 only.
TEST(TrtllmSchedulerTest, AdmitsWhatFitsWithItsWholeOutput) {
  BatchingOptions options = Small();
  options.max_batched_tokens = 20;
  EXPECT_THAT(StepsOf(TrtllmScheduler(), options, {{0, 6, 3}, {0, 5, 8}}),
              ElementsAre("p6@0 =1", "d1@6 =1", "d1@7 =1", "p5@0 =1", "d1@5 =1",
                          "d1@6 =1", "d1@7 =1", "d1@8 =1", "d1@9 =1",
                          "d1@10 =1", "d1@11 =1"));
  EXPECT_THAT(StepsOf(TrtllmScheduler(), Small(), {{0, 6, 2}, {0, 5, 2}}),
              ElementsAre("p6@0 =1", "p5@0 d1@6 =2", "d1@5 =1"));
}

TEST(TrtllmSchedulerTest, SplitsPromptsOnlyWithChunkedPrefill) {
  BatchingOptions options = Small();
  options.chunked_prefill = true;
  EXPECT_THAT(StepsOf(TrtllmScheduler(), options, {{0, 6, 2}, {0, 8, 1}}),
              ElementsAre("p6@0 p4@0 =1", "p4@4 d1@6 =2"));
}

// Steps of 10 bound the prompt, and six blocks of 4 the whole: 10 + 14 tokens
// run, one more of either does not.
TEST(TrtllmSchedulerTest, StepsBoundThePromptAndBlocksTheWhole) {
  EXPECT_EQ(StepsOf(TrtllmScheduler(), Small(), {{0, 10, 14}}).size(), 14u);
  EXPECT_THAT(
      StepsOf(TrtllmScheduler(), Small(), {{0, 10, 15}}),
      ElementsAre("request 0 has 10 prompt and 15 output tokens: a replica of "
                  "scheduler trtllm with 6 blocks of 4 tokens serves at most "
                  "24 in all"));
  EXPECT_THAT(
      StepsOf(TrtllmScheduler(), Small(), {{0, 11, 1}}),
      ElementsAre("request 0 has 11 prompt and 1 output tokens: a replica of "
                  "scheduler trtllm with steps of at most 10 tokens "
                  "(max_batched_tokens) serves prompts of at most 10"));
}

// Steps of 2 do not bound what a pool that only decodes is sent.
TEST(TrtllmSchedulerTest, StepsBoundPromptsOnlyWhereTheyAreComputed) {
  WrittenCost cost;
  ServingOptions options = {.pool = {.scheduler = &TrtllmScheduler(),
                                     .options = Small(),
                                     .cost = &cost}};
  options.decode = options.pool;
  options.decode->options.max_batched_tokens = 2;
  options.transfer = [](const KvTransfer&) { return TimePs(0); };
  const WrittenRun run = RunOf(options, {{0, 8, 3}});
  EXPECT_TRUE(run.status.ok()) << run.status;
  EXPECT_THAT(cost.steps, ElementsAre("p8@0 =1", "d1@8 =1", "d1@9 =1"));
}

}  // namespace
}  // namespace astra::testing
