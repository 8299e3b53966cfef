#include "astra-core/apps/plan/simai_planner_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/astra-core/apps/plan/plan_test_job.h"

namespace astra {
namespace {

using ::astra::testing::ReadPlanner;
using ::astra::testing::TryReadPlanner;
using ::testing::ElementsAre;

const std::string kJob =
    "-m llama3-8b --gpu H100 --gpus 16 --global-batch 64 --seq-length 8192 ";

std::string ErrorOf(const std::string& text) {
  return std::string(TryReadPlanner(kJob + text).status().message());
}

TEST(SimaiPlannerOptionsTest, TheDefaultSpaceFollowsTheJob) {
  const PlanSpace space = ReadPlanner(kJob).space;
  EXPECT_THAT(space.tensor, ElementsAre(1, 2, 4, 8));  // Of 8 GPUs a server.
  EXPECT_THAT(space.context, ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(space.expert, ElementsAre(1));
  EXPECT_THAT(space.pipeline, ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(space.zero, ElementsAre(Zero::kNone, Zero::kOptimizer));
  EXPECT_THAT(ReadPlanner(kJob + "--framework fsdp").space.zero,
              ElementsAre(Zero::kParameters));
}

TEST(SimaiPlannerOptionsTest, AListIsAValueValuesOrBounds) {
  EXPECT_THAT(ReadPlanner(kJob + "--tp 3").space.tensor, ElementsAre(3));
  EXPECT_THAT(ReadPlanner(kJob + "--tp 8,2").space.tensor, ElementsAre(2, 8));
  EXPECT_THAT(ReadPlanner(kJob + "--tp 2..4").space.tensor, ElementsAre(2, 4));
  EXPECT_EQ(ReadPlanner(kJob + "--recompute full,none").space.recompute.size(),
            2U);
}

TEST(SimaiPlannerOptionsTest, TheSystemIsTheOneBuiltWithTheGpu) {
  EXPECT_EQ(ReadPlanner(kJob).run.system, "dgx-h100");
  EXPECT_EQ(ReadPlanner(kJob + "--system h800").run.system, "h800");
}

TEST(SimaiPlannerOptionsTest, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf("--tp 0"),
            "--tp is \"0\": expected a whole number from 1 to 16777216");
  EXPECT_EQ(ErrorOf("--tp 2,2"), "--tp is \"2,2\": a value stands there twice");
  EXPECT_EQ(ErrorOf("--tp 16..32"),
            "--tp is \"16..32\": no value of the default 1,2,4,8 lies there");
  EXPECT_EQ(ErrorOf("--recompute some"),
            "unknown --recompute \"some\" (known: none, selective, full)");
  EXPECT_EQ(ErrorOf("--ep 2"), "--ep has no effect: llama3-8b has no experts");
  EXPECT_EQ(ErrorOf("--zero 4"), "--zero is 4: expected stages from 0 to 3");
  EXPECT_EQ(ErrorOf("--framework deepspeed --zero 5"),
            "--zero is 5: expected stages from 0 to 3");
  EXPECT_EQ(ErrorOf("--simulate 2"),
            "--simulate has no effect: there is no --fidelity");
  EXPECT_EQ(ErrorOf("--memory 0"), "--memory is 0: nothing fits");
  EXPECT_EQ(TryReadPlanner("-m llama3-8b").status().message(),
            "--gpu-type is missing");
}

}  // namespace
}  // namespace astra
