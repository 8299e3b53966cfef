#include "workload/modules/module_builder.h"

#include <string>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"

namespace astra {
namespace {

using ::astra::testing::StepTexts;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr ModulePass kForward = ModulePass::kForward;
constexpr ModulePass kInput = ModulePass::kInputGradient;
constexpr ModulePass kWeight = ModulePass::kWeightGradient;

// Two sequences of 32 positions: 64 tokens.
ModuleContext SmallContext() {
  ModuleContext context;
  context.sequences = 2;
  context.positions = 32;
  return context;
}

// Two linear layers in a tensor-parallel region for states 8 wide, of which all
// tokens are 64 x 8 x 2 B = 1024 B.
MockModule Region(const ModuleContext& context) {
  ModuleBuilder builder("region", context);
  builder.BeginRegion(8);
  builder.Linear(
      {.op = "up", .tokens = context.tokens(), .inputs = 8, .outputs = 16});
  builder.Linear(
      {.op = "down", .tokens = context.tokens(), .inputs = 16, .outputs = 8});
  builder.EndRegion(8);
  return builder.Take();
}

TEST(ModuleBuilderTest, OneRankNeedsNoCollective) {
  const MockModule module = Region(SmallContext());
  EXPECT_EQ(module.name, "region");
  EXPECT_THAT(StepTexts(module, kForward), ElementsAre("up", "down"));
  EXPECT_THAT(StepTexts(module, ModulePass::kRecompute), IsEmpty());
  EXPECT_THAT(StepTexts(module, kInput), ElementsAre("down", "up"));
  EXPECT_THAT(StepTexts(module, kWeight), UnorderedElementsAre("up", "down"));
}

// Megatron-LM, arXiv 1909.08053, section 3: f and g, an all-reduce each.
TEST(ModuleBuilderTest, TensorParallelRegionsAllReduceOnceEachWay) {
  ModuleContext context = SmallContext();
  context.tensor = 2;
  const MockModule module = Region(context);
  EXPECT_THAT(StepTexts(module, kForward),
              ElementsAre("up", "down", "all-reduce TP 1024 B"));
  // The all-reduce of the gradient runs behind the weight gradient.
  EXPECT_THAT(StepTexts(module, kInput),
              ElementsAre("down", "up", "launch all-reduce TP 1024 B"));
  EXPECT_THAT(StepTexts(module, kWeight),
              UnorderedElementsAre("up", "down", "wait TP"));
  EXPECT_EQ(StepTexts(module, kWeight).back(), "wait TP");
}

TEST(ModuleBuilderTest, SequenceParallelRegionsGatherAndScatter) {
  ModuleContext context = SmallContext();
  context.tensor = 2;
  context.sequence_parallel = true;
  const MockModule module = Region(context);
  EXPECT_THAT(StepTexts(module, kForward),
              ElementsAre("all-gather TP 1024 B", "up", "down",
                          "reduce-scatter TP 1024 B"));
  // The inputs of the weight gradient are gathered once more first.
  EXPECT_THAT(
      StepTexts(module, kInput),
      ElementsAre("launch all-gather TP 1024 B, hidden", "all-gather TP 1024 B",
                  "down", "up", "wait TP", "launch reduce-scatter TP 1024 B"));
  EXPECT_EQ(StepTexts(module, kWeight).back(), "wait TP");
}

// A product becomes TP products of a share of the tokens each, all but one of
// which run beside a collective.
TEST(ModuleBuilderTest, ProductsRunBesideCollectivesInParts) {
  ModuleContext context = SmallContext();
  context.tensor = 4;
  context.sequence_parallel = true;
  const MockModule whole = Region(context);
  context.tensor_overlap = true;
  const MockModule module = Region(context);
  EXPECT_THAT(
      StepTexts(module, kForward),
      ElementsAre("launch all-gather TP 1024 B", "up", "up", "up", "wait TP",
                  "up", "down", "launch reduce-scatter TP 1024 B", "down",
                  "down", "down", "wait TP"));
  EXPECT_THAT(StepTexts(module, kInput),
              ElementsAre("launch all-gather TP 1024 B, hidden",
                          "launch all-gather TP 1024 B", "down", "down", "down",
                          "wait TP", "down", "up", "wait TP",
                          "launch reduce-scatter TP 1024 B"));
  EXPECT_EQ(StepTexts(module, kWeight), StepTexts(whole, kWeight));
  EXPECT_EQ(module.pass(kForward).at(1).op,
            (Operator{"up", Gemm{1, 16, 16, 8}}));
  for (const ModulePass pass : kModulePasses) {
    EXPECT_EQ(Flops(module, pass), Flops(whole, pass));
  }
  EXPECT_EQ(module.saved_bytes, whole.saved_bytes);
}

// 64 tokens, 8 elements in and 16 out: 2 B are read, and 1 B written twice.
TEST(ModuleBuilderTest, ProductsInFp8HaveCasts) {
  ModuleContext context = SmallContext();
  context.precision = Precision::kFp8;
  ModuleBuilder::Product product = {
      .op = "up", .tokens = 64, .inputs = 8, .outputs = 16};
  const auto build = [&] {
    ModuleBuilder builder("linear", context);
    builder.Linear(product);
    return builder.Take();
  };
  // By the norm in front, but for the transposed inputs.
  MockModule module = build();
  EXPECT_THAT(StepTexts(module, kForward), ElementsAre("up"));
  EXPECT_THAT(StepTexts(module, kInput), ElementsAre("cast", "up"));
  EXPECT_THAT(StepTexts(module, kWeight), ElementsAre("transpose", "up"));
  EXPECT_EQ(module.pass(kInput).front().op,
            (Operator{"cast", Stream{64 * 16 * 4}, Precision::kFp8}));
  EXPECT_EQ(module.pass(kWeight).front().op,
            (Operator{"transpose", Stream{64 * 8 * 2}}));
  // By themselves, in front of an activation.
  product.casts_inputs = true;
  product.casts_gradients = false;
  module = build();
  EXPECT_THAT(StepTexts(module, kForward), ElementsAre("cast", "up"));
  EXPECT_THAT(StepTexts(module, kInput), ElementsAre("up"));
  EXPECT_THAT(StepTexts(module, kWeight), ElementsAre("up"));
  EXPECT_EQ(module.pass(kForward).front().op,
            (Operator{"cast", Stream{64 * 8 * 4}, Precision::kFp8}));
  // Without a backward pass nothing is transposed.
  context.training = false;
  EXPECT_EQ(build().pass(kForward).front().op,
            (Operator{"cast", Stream{64 * 8 * 3}, Precision::kFp8}));
  product.is_exact = true;
  EXPECT_THAT(StepTexts(build(), kForward), ElementsAre("up"));
}

// A value of NVFP4 takes 9/16 B with its scale.
TEST(ModuleBuilderTest, ProductsInFp4KeepScales) {
  ModuleContext context = SmallContext();
  context.precision = Precision::kNvfp4;
  ModuleBuilder builder("linear", context);
  builder.Linear({.op = "up",
                  .tokens = 64,
                  .inputs = 8,
                  .outputs = 16,
                  .casts_inputs = true});
  const MockModule module = builder.Take();
  EXPECT_EQ(module.pass(kForward).front().op,
            (Operator{"cast", Stream{64 * 8 * 2 + 2 * 64 * 8 * 9 / 16},
                      Precision::kNvfp4}));
  EXPECT_EQ(module.saved_bytes, 64 * 8 * 9 / 16);
}

TEST(ModuleBuilderTest, CastsAreInFrontOfWhatOverlaps) {
  ModuleContext context = SmallContext();
  context.precision = Precision::kFp8;
  context.tensor = 2;
  context.sequence_parallel = true;
  context.tensor_overlap = true;
  const MockModule module = Region(context);
  EXPECT_THAT(
      StepTexts(module, kForward),
      ElementsAre("launch all-gather TP 1024 B", "up", "wait TP", "up", "down",
                  "launch reduce-scatter TP 1024 B", "down", "wait TP"));
  EXPECT_THAT(
      StepTexts(module, kInput),
      ElementsAre("launch all-gather TP 1024 B, hidden", "cast",
                  "launch all-gather TP 1024 B", "down", "wait TP", "down",
                  "cast", "up", "wait TP", "launch reduce-scatter TP 1024 B"));
}

TEST(ModuleBuilderTest, ExactProductsWaitForTheirInputs) {
  ModuleContext context = SmallContext();
  context.tensor = 2;
  context.sequence_parallel = true;
  context.tensor_overlap = true;
  ModuleBuilder builder("logits", context);
  builder.BeginRegion(8);
  builder.Linear({.op = "logits",
                  .tokens = 64,
                  .inputs = 8,
                  .outputs = 16,
                  .is_exact = true});
  EXPECT_THAT(StepTexts(builder.Take(), kForward),
              ElementsAre("all-gather TP 1024 B", "logits"));
}

TEST(ModuleBuilderTest, InferenceHasNoBackwardPass) {
  ModuleContext context = SmallContext();
  context.tensor = 2;
  context.training = false;
  const MockModule module = Region(context);
  EXPECT_THAT(StepTexts(module, kForward),
              ElementsAre("up", "down", "all-reduce TP 1024 B"));
  EXPECT_THAT(StepTexts(module, kInput), IsEmpty());
  EXPECT_THAT(StepTexts(module, kWeight), IsEmpty());
  EXPECT_EQ(module.saved_bytes, 0);
}

// y = x w with x of 6 x 8 and w of 8 x 16, three times over; dx is 6 x 8 from
// products 16 deep, dw is 8 x 16 from products 6 deep.
TEST(ModuleBuilderTest, ALinearLayerIsThreeProducts) {
  ModuleBuilder builder("linear", SmallContext());
  builder.Linear(
      {.op = "up", .groups = 3, .tokens = 6, .inputs = 8, .outputs = 16});
  const MockModule module = builder.Take();
  const auto only = [&](ModulePass pass) { return module.pass(pass).at(0).op; };
  // Each group is a kernel; weight gradients are added to sums in FP32.
  EXPECT_EQ(only(kForward), (Operator{"up", Gemm{3, 6, 16, 8, 0, true}}));
  EXPECT_EQ(only(kInput), (Operator{"up", Gemm{3, 6, 8, 16, 0, true}}));
  EXPECT_EQ(only(kWeight), (Operator{"up", Gemm{3, 8, 16, 6, 4, true}}));
  EXPECT_EQ(module.saved_bytes, 3 * 6 * 8 * 2);
  EXPECT_EQ(Flops(module, kForward), 2 * 3 * 6 * 16 * 8);
  EXPECT_EQ(Flops(module, kWeight), Flops(module, kForward));
  // 3 x (48 + 128 + 96) elements of 2 bytes.
  EXPECT_EQ(BytesMoved(module, kForward), 1632);
}

TEST(ModuleBuilderTest, KeepsInputsInTheirPrecision) {
  ModuleContext context = SmallContext();
  context.precision = Precision::kFp8;
  ModuleBuilder builder("linear", context);
  builder.Linear(
      {.op = "up", .tokens = 6, .inputs = 8, .outputs = 16, .saved_tokens = 3});
  const MockModule module = builder.Take();
  EXPECT_EQ(module.saved_bytes, 3 * 8 * 1);
  EXPECT_EQ(module.pass(kForward).at(0).op.precision, Precision::kFp8);
}

TEST(ModuleBuilderTest, StreamsCountEachReadAndWrite) {
  ModuleBuilder builder("stream", SmallContext());
  builder.Stream({.op = "norm",
                  .elements = 10,
                  .forward = 2,
                  .backward = 3,
                  .saved_bytes = 7});
  builder.Stream({.op = "look-up", .elements = 10, .forward = 1});
  const MockModule module = builder.Take();
  EXPECT_THAT(StepTexts(module, kForward), ElementsAre("norm", "look-up"));
  EXPECT_THAT(StepTexts(module, kInput), ElementsAre("norm"));
  EXPECT_EQ(BytesMoved(module, kForward), 2 * 10 * (2 + 1));
  EXPECT_EQ(BytesMoved(module, kInput), 2 * 10 * 3);
  EXPECT_EQ(module.saved_bytes, 7);
}

// The first operator has 7 + 20 B, and the second, with what the first saved, 9
// + 15 B. All 9 B are saved, so 18 B come on top.
TEST(ModuleBuilderTest, AWorkspaceIsOnTopOfWhatWasSavedUpToIt) {
  ModuleBuilder builder("stream", SmallContext());
  builder.Stream({.op = "first", .saved_bytes = 7, .workspace_bytes = 20});
  builder.Stream({.op = "second", .saved_bytes = 2, .workspace_bytes = 15});
  EXPECT_EQ(builder.Take().workspace_bytes, 18);
}

// 6 tokens; TP 2 has 12 inputs and 16 outputs on each rank. Gathered inputs,
// and the gradients of inputs and outputs.
TEST(ModuleBuilderTest, OnlyTheFirstProductOfARegionGathersItsInputsAgain) {
  ModuleContext context = SmallContext();
  context.tensor = 2;
  context.sequence_parallel = true;
  ModuleBuilder builder("region", context);
  builder.BeginRegion(12);
  const int64_t gathered = 2 * context.tokens() * 12;
  const ModuleBuilder::Product product = {.op = "product",
                                          .tokens = context.tokens(),
                                          .inputs = 12,
                                          .outputs = 16,
                                          .saved_tokens = 0};
  builder.Linear(product);
  const int64_t gradients = 2 * context.tokens() * (12 + 16);
  builder.Linear(product);
  EXPECT_EQ(builder.Take().workspace_bytes, gathered + gradients);
}

MockModule Behind(int64_t context_parallel) {
  ModuleContext context = SmallContext();
  context.context = context_parallel;
  ModuleBuilder builder("ring", context);
  const Operator op = {"attention", Stream{8}};
  builder.ForwardBehind(CollectiveKind::kAllGather, ParallelDimension::kContext,
                        32, {op, op});
  builder.BackwardBehind(CollectiveKind::kAllGather,
                         ParallelDimension::kContext, 64, {op, op});
  builder.Forward({"after", Stream{8}});
  builder.Backward({"after", Stream{8}});
  return builder.Take();
}

TEST(ModuleBuilderTest, HidesCollectivesBehindAnOperator) {
  const MockModule alone = Behind(1);
  EXPECT_THAT(StepTexts(alone, kForward),
              ElementsAre("attention", "attention", "after"));
  EXPECT_THAT(StepTexts(alone, kInput),
              ElementsAre("after", "attention", "attention"));
  const MockModule ring = Behind(2);
  EXPECT_THAT(StepTexts(ring, kForward),
              ElementsAre("launch all-gather CP 32 B", "attention", "attention",
                          "wait CP", "after"));
  EXPECT_THAT(StepTexts(ring, kInput),
              ElementsAre("after", "launch all-gather CP 64 B", "attention",
                          "attention", "wait CP"));
}

TEST(ModuleBuilderTest, CollectivesOfNothingAreLeftOut) {
  ModuleContext context = SmallContext();
  context.expert = 2;
  ModuleBuilder builder("none", context);
  builder.ForwardCollective(CollectiveKind::kAllToAll,
                            ParallelDimension::kExpert, 0);
  builder.ForwardCollective(CollectiveKind::kAllToAll,
                            ParallelDimension::kExpertTensor, 8);
  EXPECT_THAT(StepTexts(builder.Take(), kForward), IsEmpty());
}

TEST(ModuleContextTest, CountsTokens) {
  ModuleContext context = SmallContext();
  context.tensor = 4;
  context.context = 2;
  EXPECT_EQ(context.tokens(), 2 * 16);
  EXPECT_EQ(context.split_tokens(), 32);
  EXPECT_EQ(context.routing_ranks(), 1);
  context.sequence_parallel = true;
  EXPECT_EQ(context.split_tokens(), 8);
  EXPECT_EQ(context.routing_ranks(), 4);
  // In inference all have all of them, and route a share.
  context = {.tensor = 4, .sequences = 5, .training = false};
  EXPECT_EQ(context.split_tokens(), 5);
  EXPECT_EQ(context.routing_ranks(), 4);
}

}  // namespace
}  // namespace astra
