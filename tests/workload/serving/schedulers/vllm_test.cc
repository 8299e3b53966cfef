#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/serving/serving_run.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

BatchingOptions Small() {
  BatchingOptions options = VllmScheduler().defaults;
  options.num_blocks = 100;
  options.block_tokens = 4;
  options.max_batched_tokens = 10;
  options.max_sequences = 4;
  return options;
}

// The budget of 10 goes to the prompt of 6 and the first 4 of the prompt of 8;
// then to one decode, the other 4, and the first of the last prompt.
TEST(VllmSchedulerTest, SplitsPromptsBesideDecodes) {
  EXPECT_THAT(
      StepsOf(VllmScheduler(), Small(), {{0, 6, 3}, {0, 8, 2}, {0, 5, 1}}),
      ElementsAre("p6@0 p4@0 =1", "p4@4 p5@0 d1@6 =3", "d2@15 =2"));
}

TEST(VllmSchedulerTest, WithoutChunksAPromptWaitsForTheWholeBudget) {
  BatchingOptions options = Small();
  options.chunked_prefill = false;
  EXPECT_THAT(StepsOf(VllmScheduler(), options, {{0, 6, 2}, {0, 8, 2}}),
              ElementsAre("p6@0 =1", "p8@0 d1@6 =2", "d1@8 =1"));
  EXPECT_THAT(StepsOf(VllmScheduler(), options, {{0, 9, 2}}),
              ElementsAre("request 0 has 9 prompt and 2 output tokens: a "
                          "replica of scheduler vllm with steps of at most 10 "
                          "tokens (max_batched_tokens) serves at most 10 in "
                          "all"));
}

TEST(VllmSchedulerTest, RunsNoMoreThanMaxSequences) {
  BatchingOptions options = Small();
  options.max_sequences = 1;
  EXPECT_THAT(StepsOf(VllmScheduler(), options, {{0, 2, 2}, {0, 3, 1}}),
              ElementsAre("p2@0 =1", "d1@2 =1", "p3@0 =1"));
}

TEST(VllmSchedulerTest, LongPromptsComeInTheirOwnChunks) {
  BatchingOptions options = Small();
  options.long_prefill_tokens = 3;
  EXPECT_THAT(StepsOf(VllmScheduler(), options, {{0, 7, 1}, {0, 2, 1}}),
              ElementsAre("p3@0 p2@0 =1", "p3@3 =0", "p1@6 =1"));
}

// Four blocks of 4. Both sequences have 8 positions, in 4 blocks; the first
// needs a third block for its second token, so the second is preempted and
// computes its 9 known positions again when the first has ended.
TEST(VllmSchedulerTest, PreemptsTheLastArrivalWhichStartsAgain) {
  BatchingOptions options = Small();
  options.num_blocks = 4;
  options.max_batched_tokens = 100;
  WrittenCost cost;
  const WrittenRun run = RunOf({.pool = {.scheduler = &VllmScheduler(),
                                         .options = options,
                                         .cost = &cost}},
                               {{0, 8, 3}, {0, 8, 3}});
  EXPECT_THAT(cost.steps, ElementsAre("p8@0 p8@0 =2", "d1@8 =1", "d1@9 =1",
                                      "p9@0 =1", "d1@9 =1"));
  EXPECT_THAT(run.Ended(), ElementsAre(0, 1));
  EXPECT_EQ(run.Of(0).times.preemptions, 0);
  EXPECT_EQ(run.Of(1).times.preemptions, 1);
  EXPECT_EQ(run.Of(1).times.first_token, TimePs(10));
  EXPECT_EQ(run.Of(1).times.last_token, TimePs(50));
  EXPECT_EQ(run.steps[1].preemptions, 1);
}

// Seven blocks: a prompt of 8 takes two and each sequence two more, so that the
// second waits for the first, and a third block for its output still fits.
TEST(VllmSchedulerTest, SequencesHoldBlocksWhateverTheirLength) {
  BatchingOptions options = Small();
  options.num_blocks = 7;
  options.max_batched_tokens = 100;
  const std::vector<Asked> asked = {{0, 8, 2}, {0, 8, 2}};
  EXPECT_THAT(StepsOf(VllmScheduler(), options, asked),
              ElementsAre("p8@0 p8@0 =2", "d2@16 =2"));
  options.held.states = 2;
  EXPECT_THAT(StepsOf(VllmScheduler(), options, asked),
              ElementsAre("p8@0 =1", "d1@8 =1", "p8@0 =1", "d1@8 =1"));
  EXPECT_THAT(StepsOf(VllmScheduler(), options, {{0, 20, 1}}),
              ElementsAre("request 0 has 20 prompt and 1 output tokens: a "
                          "replica of scheduler vllm with 7 blocks of 4 "
                          "tokens, of which the longest sequence takes 2 for "
                          "windows and states, serves at most 20 in all"));
}

// Seven blocks: windows take one for each block of positions and at most two,
// so that two prompts of a block run together and two of two do not. The
// longest sequence has five blocks beside them.
TEST(VllmSchedulerTest, WindowsOfShortSequencesTakeFewBlocks) {
  BatchingOptions options = Small();
  options.num_blocks = 7;
  options.max_batched_tokens = 100;
  options.held = {.windows_per_block = 1, .most_windows = 2};
  EXPECT_EQ(TokensOfAllBlocks(options), 5 * options.block_tokens);
  EXPECT_THAT(StepsOf(VllmScheduler(), options, {{0, 3, 2}, {0, 3, 2}}),
              ElementsAre("p3@0 p3@0 =2", "d2@6 =2"));
  EXPECT_THAT(StepsOf(VllmScheduler(), options, {{0, 7, 2}, {0, 7, 2}}),
              ElementsAre("p7@0 =1", "d1@7 =1", "p7@0 =1", "d1@7 =1"));
}

// Five blocks: the first chunk of the second prompt fits, the whole does not.
TEST(VllmSchedulerTest, RoomForTheFirstChunkIsNotEnough) {
  BatchingOptions options = Small();
  options.num_blocks = 5;
  const std::vector<Asked> asked = {{0, 8, 1}, {0, 16, 1}};
  EXPECT_THAT(StepsOf(VllmScheduler(), options, asked),
              ElementsAre("p8@0 =1", "p10@0 =0", "p6@10 =1"));
  options.whole_prompt_must_fit = false;
  EXPECT_THAT(StepsOf(VllmScheduler(), options, asked),
              ElementsAre("p8@0 p2@0 =1", "p10@2 =0", "p4@12 =1"));
}

TEST(VllmSchedulerTest, WatermarkHoldsOnlyWhileOthersRun) {
  BatchingOptions options = Small();
  options.num_blocks = 4;
  options.watermark = 0.5;
  EXPECT_THAT(StepsOf(VllmScheduler(), options, {{0, 4, 2}, {0, 8, 1}}),
              ElementsAre("p4@0 =1", "d1@4 =1", "p8@0 =1"));
}

// The second finds both hashes in the step in which the first computes them.
TEST(VllmSchedulerTest, FindsPrefixesOfTheSameStep) {
  BatchingOptions options = Small();
  options.max_batched_tokens = 100;
  const std::vector<Asked> asked = {{0, 9, 1, {1, 2}}, {0, 11, 1, {1, 2, 3}}};
  EXPECT_THAT(StepsOf(VllmScheduler(), options, asked),
              ElementsAre("p9@0 p3@8 =2"));
  options.prefix_caching = false;
  EXPECT_THAT(StepsOf(VllmScheduler(), options, asked),
              ElementsAre("p9@0 p11@0 =2"));
}

// The second request arrives amid the first step, and starts in the fourth, the
// next with a number that 3 divides. The third one arrives in that step and
// waits for the seventh.
TEST(VllmSchedulerTest, PromptsStartInEveryThirdStep) {
  BatchingOptions options = Small();
  options.prefill_interval = 3;
  EXPECT_THAT(
      StepsOf(VllmScheduler(), options, {{0, 4, 8}, {5, 4, 2}, {35, 4, 1}}),
      ElementsAre("p4@0 =1", "d1@4 =1", "d1@5 =1", "p4@0 d1@6 =2", "d2@11 =2",
                  "d1@8 =1", "p4@0 d1@9 =2", "d1@10 =1"));
}

// Three wait when the first step has room for one, so that prompts start at
// once until none is left.
TEST(VllmSchedulerTest, PromptsThatWereLeftDoNotWait) {
  BatchingOptions options = Small();
  options.prefill_interval = 3;
  options.max_batched_tokens = 4;
  EXPECT_THAT(
      StepsOf(VllmScheduler(), options, {{0, 4, 4}, {0, 3, 1}, {0, 3, 1}}),
      ElementsAre("p4@0 =1", "p3@0 d1@4 =2", "p3@0 d1@5 =2", "d1@6 =1"));
}

}  // namespace
}  // namespace astra::testing
