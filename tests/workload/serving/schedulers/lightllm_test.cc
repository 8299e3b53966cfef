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

}  // namespace
}  // namespace astra::testing
