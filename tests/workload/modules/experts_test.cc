#include "workload/modules/experts.h"

#include <variant>

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"

namespace astra {
namespace {

using ::astra::testing::OperatorOf;
using ::astra::testing::SmallMoe;
using ::astra::testing::StepTexts;
using ::testing::ElementsAre;

constexpr ModulePass kForward = ModulePass::kForward;
constexpr ModulePass kInput = ModulePass::kInputGradient;

// Two sequences of 32 positions, split over TP 2: 32 tokens on each rank, which
// go to 2 experts each. EP 4: a rank holds 2 of 8 experts.
ModuleContext SmallContext() {
  ModuleContext context;
  context.tensor = 2;
  context.expert = 4;
  context.sequence_parallel = true;
  context.sequences = 2;
  context.positions = 32;
  return context;
}

struct Modules {
  MockModule router;
  MockModule dispatch;
  MockModule gather;
  MockModule experts;
  MockModule combine;
};

Modules ModulesFor(const ModelSpec& model, const ModuleContext& context) {
  auto modules = ExpertModules(model, context);
  return {modules.at(0), modules.at(1), modules.at(2), modules.at(3),
          modules.at(4)};
}

Gemm UpOf(const Modules& modules) {
  const Operator& op = OperatorOf(modules.experts, kForward, "experts_up");
  return std::get<Gemm>(op.shape);
}

// Each token takes 2 of 8 experts, which lie on `ranks`.
Gemm OfExperts(Gemm gemm, int64_t ranks, int64_t parts = 1) {
  gemm.routed = {.experts = 8,
                 .top_k = 2,
                 .ranks = ranks,
                 .parts = parts,
                 .rows = gemm.groups * gemm.m};
  return gemm;
}

// In training each group is a kernel, and here there are 4 ranks.
Gemm Trained(Gemm gemm, int64_t parts = 1) {
  gemm.starts_each_group = true;
  return OfExperts(gemm, 4, parts);
}

TEST(ExpertsTest, HasFiveModules) {
  const Modules modules = ModulesFor(SmallMoe(), SmallContext());
  EXPECT_EQ(modules.router.name, "moe_router");
  EXPECT_EQ(modules.dispatch.name, "moe_dispatch");
  EXPECT_EQ(modules.gather.name, "moe_gather");
  EXPECT_EQ(modules.experts.name, "moe_experts");
  EXPECT_EQ(modules.combine.name, "moe_combine");
}

TEST(ExpertsTest, TokensGoToTheirExpertsAndBack) {
  const Modules modules = ModulesFor(SmallMoe(), SmallContext());
  // 2 b s h top_k / TP = 2 x 2 x 32 x 64 x 2 / 2.
  EXPECT_THAT(StepTexts(modules.dispatch, kForward),
              ElementsAre("permute", "dispatch EP 8192 B"));
  EXPECT_THAT(StepTexts(modules.dispatch, kInput),
              ElementsAre("combine EP 8192 B", "permute"));
  EXPECT_THAT(StepTexts(modules.combine, kForward),
              ElementsAre("combine EP 8192 B", "unpermute", "residual_add"));
  EXPECT_THAT(StepTexts(modules.combine, kInput),
              ElementsAre("residual_add", "unpermute", "dispatch EP 8192 B"));
  // How many tokens go to each of 8 experts, 8 B from each of 4 ranks.
  EXPECT_THAT(
      StepTexts(modules.router, kForward),
      ElementsAre("rms_norm", "router", "softmax_topk", "all-gather EP 256 B"));
}

TEST(ExpertsTest, OneRankOfExpertsNeedsNoAllToAll) {
  ModuleContext context = SmallContext();
  context.expert = 1;
  const Modules modules = ModulesFor(SmallMoe(), context);
  EXPECT_THAT(StepTexts(modules.router, kForward),
              ElementsAre("rms_norm", "router", "softmax_topk"));
  EXPECT_THAT(StepTexts(modules.dispatch, kForward), ElementsAre("permute"));
  EXPECT_THAT(StepTexts(modules.gather, kForward), ElementsAre("permute"));
}

TEST(ExpertsTest, DispatchInFp8HasAScaleForEach128) {
  ModuleContext context = SmallContext();
  context.fp8_dispatch = true;
  const Modules modules = ModulesFor(SmallMoe(), context);
  // 64 copies of 64 elements, 1 + 4 / 128 = 1.03125 B each; the gradient and
  // the way back are in BF16.
  EXPECT_THAT(StepTexts(modules.dispatch, kForward),
              ElementsAre("permute", "dispatch EP 4224 B"));
  EXPECT_THAT(StepTexts(modules.dispatch, kInput),
              ElementsAre("combine EP 8192 B", "permute"));
  EXPECT_EQ(StepTexts(modules.combine, kForward).front(), "combine EP 8192 B");
}

TEST(ExpertsTest, TheBusiestRankSetsThePace) {
  ModuleContext context = SmallContext();
  context.expert_load = 1.5;
  const Modules modules = ModulesFor(SmallMoe(), context);
  EXPECT_THAT(StepTexts(modules.dispatch, kForward),
              ElementsAre("permute", "dispatch EP 12288 B"));
  // 96 copies to 2 experts.
  EXPECT_EQ(UpOf(modules), Trained({2, 48, 64, 64}));
}

TEST(ExpertsTest, ARankComputesItsExperts) {
  const Modules modules = ModulesFor(SmallMoe(), SmallContext());
  EXPECT_EQ(UpOf(modules), Trained({2, 32, 64, 64}));
  const Operator& down = OperatorOf(modules.experts, kForward, "experts_down");
  EXPECT_EQ(std::get<Gemm>(down.shape), Trained({2, 32, 64, 32}));
  EXPECT_THAT(StepTexts(modules.experts, kForward),
              ElementsAre("experts_up", "swiglu", "experts_down"));
  EXPECT_EQ(modules.experts.expert_parameters, 2 * 3 * 64 * 32);
  EXPECT_EQ(modules.experts.parameters, 0);
  // The 64 copies in BF16: their states, both inputs of the gate, what it
  // gives;
  EXPECT_EQ(modules.experts.saved_bytes, 64 * 2 * (64 + 2 * 32 + 32));
  // and their results, for the gradient of the weights that add them up.
  EXPECT_EQ(modules.combine.saved_bytes, 64 * 2 * 64);
}

// Each of the 64 copies keeps its probability in FP32, and no result.
TEST(ExpertsTest, WeightsInExpertsSaveTheirResults) {
  ModuleContext context = SmallContext();
  context.weights_in_experts = true;
  const Modules modules = ModulesFor(SmallMoe(), context);
  EXPECT_EQ(modules.experts.saved_bytes, 64 * (2 * (64 + 2 * 32 + 32) + 4));
  EXPECT_EQ(modules.combine.saved_bytes, 0);
}

// The gradient of the 64 copies, before and after the exchange.
TEST(ExpertsTest, GradientsAreThereTwiceWhileTheyAreExchanged) {
  const Modules modules = ModulesFor(SmallMoe(), SmallContext());
  EXPECT_EQ(modules.combine.workspace_bytes, 2 * 64 * 2 * 64);
}

// Inputs of the norm and of the product, and the scores of 8 experts in FP32,
// of 32 tokens.
TEST(ExpertsTest, TheRouterKeepsItsScores) {
  const Modules modules = ModulesFor(SmallMoe(), SmallContext());
  EXPECT_EQ(modules.router.saved_bytes, 32 * (2 * (64 + 64) + 4 * 8));
}

TEST(ExpertsTest, WeightGradientsAreAddedToTheirSums) {
  ModuleContext context = SmallContext();
  context.gradient_bytes = 4;
  const Modules modules = ModulesFor(SmallMoe(), context);
  const Operator& up =
      OperatorOf(modules.experts, ModulePass::kWeightGradient, "experts_up");
  EXPECT_EQ(std::get<Gemm>(up.shape),
            (Gemm{2, 64, 64, 32, /*sum_bytes=*/4, /*starts_each_group=*/true}));
}

TEST(ExpertsTest, AFrameworkMayWaitForTheHostAndFuseExperts) {
  ModuleContext context = SmallContext();
  context.expert_host_ns = 450'000;
  context.fused_experts = true;
  const Modules modules = ModulesFor(SmallMoe(), context);
  EXPECT_EQ(
      std::get<Stream>(OperatorOf(modules.dispatch, kForward, "routing").shape),
      Stream{.host_ns = 450'000});
  EXPECT_THAT(StepTexts(modules.dispatch, kInput),
              ElementsAre("combine EP 8192 B", "permute", "routing"));
  EXPECT_FALSE(UpOf(modules).starts_each_group);
  const Operator& gradient =
      OperatorOf(modules.experts, ModulePass::kWeightGradient, "experts_up");
  EXPECT_FALSE(std::get<Gemm>(gradient.shape).starts_each_group);
}

TEST(ExpertsTest, ExpertTensorParallelismSplitsEachExpert) {
  ModuleContext context = SmallContext();
  context.expert_tensor = 2;
  const Modules modules = ModulesFor(SmallMoe(), context);
  // Both ranks work on the tokens of both: 128 copies, half of the columns.
  EXPECT_EQ(UpOf(modules), Trained({2, 64, 32, 64}, 2));
  EXPECT_EQ(modules.experts.expert_parameters, 2 * 3 * 64 * 16);
  EXPECT_THAT(StepTexts(modules.gather, kForward),
              ElementsAre("all-gather ETP 16384 B", "permute"));
  EXPECT_THAT(StepTexts(modules.gather, kInput),
              ElementsAre("permute", "reduce-scatter ETP 16384 B"));
  EXPECT_EQ(StepTexts(modules.experts, kForward).back(),
            "reduce-scatter ETP 16384 B");
  EXPECT_EQ(StepTexts(modules.experts, kInput).front(),
            "all-gather ETP 16384 B");
  EXPECT_EQ(StepTexts(modules.router, kForward).back(), "all-gather EP 512 B");
}

TEST(ExpertsTest, CountsRoutersAndBiases) {
  ModelSpec model = SmallMoe();
  EXPECT_EQ(ModulesFor(model, SmallContext()).router.parameters, 64 + 64 * 8);
  model.experts->router_bias = true;
  model.experts->expert_bias = true;
  const Modules modules = ModulesFor(model, SmallContext());
  EXPECT_EQ(modules.router.parameters, 64 + 64 * 8 + 8);
  EXPECT_EQ(modules.router.replicated_parameters, modules.router.parameters);
  EXPECT_EQ(modules.experts.expert_parameters, 2 * (3 * 64 * 32 + 2 * 32 + 64));
}

TEST(ExpertsTest, InInferenceEachRankRoutesItsShare) {
  ModuleContext context = SmallContext();
  context.training = false;
  context.sequence_parallel = false;
  context.sequences = 6;
  context.positions = 1;
  const Modules modules = ModulesFor(SmallMoe(), context);
  // 3 of 6 tokens, twice, of 64 x 2 B; then all get all: 6 x 64 x 2 B.
  EXPECT_THAT(StepTexts(modules.dispatch, kForward),
              ElementsAre("permute", "dispatch EP 768 B"));
  EXPECT_THAT(StepTexts(modules.combine, kForward),
              ElementsAre("combine EP 768 B", "unpermute",
                          "all-gather TP 768 B", "residual_add"));
  EXPECT_EQ(UpOf(modules), OfExperts({2, 3, 64, 64}, 4));
}

// One token goes to 2 of 8 experts, whose weights alone are read.
TEST(ExpertsTest, AStepOfFewTokensReadsFewExperts) {
  ModuleContext context;
  context.training = false;
  EXPECT_EQ(UpOf(ModulesFor(SmallMoe(), context)),
            OfExperts({2, 1, 64, 64}, 1));
}

// One token goes to 2 experts: 2 copies over 4 TP ranks is one for each, and
// never less, however small a capacity is.
TEST(ExpertsTest, RoutesAtLeastOneToken) {
  ModuleContext context = {.tensor = 4, .training = false};
  EXPECT_EQ(UpOf(ModulesFor(SmallMoe(), context)).groups, 1);
  context.expert_load = 1e-9;
  EXPECT_EQ(UpOf(ModulesFor(SmallMoe(), context)).groups, 1);
}

}  // namespace
}  // namespace astra
