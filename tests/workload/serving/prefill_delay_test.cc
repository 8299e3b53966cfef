#include "workload/serving/prefill_delay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/serving/serving_run.h"
#include "workload/serving/schedulers/registry.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

// The steps of two ranks that get three requests in turn, of which the first
// comes at 0 and the others later; each step takes 10 ps. The step of a rank
// without work is "=0".
std::vector<std::string> StepsOfTwoRanks(int64_t delay,
                                         const std::vector<Asked>& asked) {
  ServingOptions options;
  options.pool.ranks = 2;
  options.pool.scheduler = &SglangScheduler();
  options.pool.options = SglangScheduler().defaults;
  options.pool.options.num_blocks = 1000;
  options.pool.options.prefill_delay = delay;
  options.pool.router = *FindRouter("round-robin");
  class BothCost : public WrittenCost {
   public:
    void AddStages(absl::Span<const StepWork> ranks,
                   std::vector<StageTime>* stages) override {
      for (const StepWork& work : ranks) TimeOf(work);
      stages->push_back({TimePs(10)});
    }
  };
  BothCost cost;
  options.pool.cost = &cost;
  const WrittenRun run = RunOf(options, asked);
  EXPECT_TRUE(run.status.ok());
  return cost.steps;
}

// The first two start together. When the third comes for one rank alone, it
// waits for two steps of three, or starts at once.
TEST(PrefillDelayTest, APromptOfOneRankWaits) {
  const std::vector<Asked> asked = {{0, 6, 5}, {0, 6, 5}, {15, 4, 1}};
  EXPECT_THAT(StepsOfTwoRanks(0, asked),
              ElementsAre("p6@0 =1", "p6@0 =1", "d1@6 =1", "d1@6 =1", "p4@0 =1",
                          "d1@7 =1", "d1@7 =1", "d1@8 =1", "d1@8 =1", "d1@9 =1",
                          "d1@9 =1", "=0"));
  EXPECT_THAT(StepsOfTwoRanks(3, asked),
              ElementsAre("p6@0 =1", "p6@0 =1", "d1@6 =1", "d1@6 =1", "d1@7 =1",
                          "d1@7 =1", "d1@8 =1", "d1@8 =1", "p4@0 =1", "d1@9 =1",
                          "d1@9 =1", "=0"));
}

// With the fourth request both ranks are ready, and nothing waits longer.
TEST(PrefillDelayTest, PromptsOfAllRanksStart) {
  const std::vector<Asked> asked = {
      {0, 6, 5}, {0, 6, 5}, {15, 4, 1}, {25, 4, 1}};
  EXPECT_THAT(StepsOfTwoRanks(9, asked),
              ElementsAre("p6@0 =1", "p6@0 =1", "d1@6 =1", "d1@6 =1", "d1@7 =1",
                          "d1@7 =1", "p4@0 =1", "p4@0 =1", "d1@8 =1", "d1@8 =1",
                          "d1@9 =1", "d1@9 =1"));
}

// Nobody decodes meanwhile: holding a prompt back would keep all from working.
TEST(PrefillDelayTest, APromptStartsWhereNothingElseRuns) {
  EXPECT_THAT(StepsOfTwoRanks(9, {{0, 6, 1}}), ElementsAre("p6@0 =1", "=0"));
}

}  // namespace
}  // namespace astra::testing
