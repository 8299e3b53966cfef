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
}

// "none", "selective", "core_attn", "full", "full 3", "uniform 3" or "fit".
std::vector<std::string> RecomputeTexts(const std::string& text) {
  std::vector<std::string> texts;
  for (const RecomputeChoice& one : ReadPlanner(kJob + text).space.recompute) {
    texts.push_back(one.just_fits ? "fit" : Describe(one));
  }
  return texts;
}

TEST(SimaiPlannerOptionsTest, RecomputationIsAnAxis) {
  EXPECT_THAT(RecomputeTexts(""), ElementsAre("", "selective recomputation",
                                              "full recomputation", "fit"));
  EXPECT_THAT(RecomputeTexts("--recompute selective --recompute-modules "
                             "core_attn,mlp+core_attn"),
              ElementsAre("recomputation of core_attn",
                          "recomputation of core_attn+mlp"));
  EXPECT_THAT(RecomputeTexts("--recompute full --recompute-num-layers 2..3"),
              ElementsAre("full recomputation of 2 layers",
                          "full recomputation of 3 layers"));
  EXPECT_THAT(
      RecomputeTexts("--recompute full --recompute-num-layers 2,all "
                     "--recompute-method uniform,block"),
      ElementsAre("full recomputation", "full recomputation by 2 layers",
                  "full recomputation of 2 layers"));
}

TEST(SimaiPlannerOptionsTest, OverlapsAndMethodsAreAxes) {
  const PlanSpace space =
      ReadPlanner(kJob + "--overlap none,gradients+tp --cp-method all-to-all")
          .space;
  EXPECT_THAT(
      space.overlaps,
      ElementsAre(Overlaps(), Overlaps{.gradients = true, .tensor = true}));
  EXPECT_THAT(space.context_methods, ElementsAre(ContextMethod::kAllToAll));
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
            "unknown --recompute \"some\" (known: none, selective, full, fit)");
  EXPECT_EQ(ErrorOf("--recompute none --recompute-num-layers 2"),
            "--recompute-num-layers has no effect: --recompute has no full");
  EXPECT_EQ(ErrorOf("--recompute-method block"),
            "--recompute-method has no effect: there is no "
            "--recompute-num-layers");
  EXPECT_EQ(ErrorOf("--recompute-num-layers 33..40"),
            "--recompute-num-layers is \"33..40\": no value of the default "
            "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,"
            "26,27,28,29,30,31,32 lies there");
  EXPECT_EQ(ErrorOf("--recompute-modules moe"),
            "--recompute-modules: llama3-8b has no moe to recompute (it has: "
            "core_attn, layernorm, mlp, op)");
  EXPECT_EQ(ErrorOf("--recompute-modules mlp+core_attn,core_attn+mlp"),
            "--recompute-modules is \"mlp+core_attn,core_attn+mlp\": "
            "core_attn+mlp stands there twice");
  EXPECT_EQ(ErrorOf("--overlap tp+gradient"),
            "--overlap: unknown overlap \"gradient\"; did you mean "
            "\"gradients\"? (known: gradients, parameters, tp, "
            "shared_experts)");
  EXPECT_EQ(ErrorOf("--recompute-modules mlp+mlp"),
            "--recompute-modules: mlp stands there twice");
  EXPECT_EQ(ErrorOf("--overlap tp+tp"), "--overlap: tp stands there twice");
  EXPECT_EQ(ErrorOf("--cp 1 --cp-method ring"),
            "--cp-method has no effect: CP is 1");
  EXPECT_EQ(ErrorOf("--overlap none,tp,none"),
            "--overlap is \"none,tp,none\": none stands there twice");
  EXPECT_EQ(ErrorOf("--order tp-pp-cp-ep-dp"),
            "--order tp-pp-cp-ep-dp: the planner searches orders that end with "
            "dp and pp");
  EXPECT_EQ(ErrorOf("--order tp"),
            "--order \"tp\": expected each of tp, cp, ep, dp and pp once, such "
            "as tp-cp-ep-dp-pp");
  EXPECT_EQ(ErrorOf("--dispatcher deepep"),
            "--dispatcher has no effect: llama3-8b has no experts");
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
