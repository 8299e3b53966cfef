#include "workload/modules/logits.h"

#include <variant>

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"
#include "workload/modules/embedding.h"

namespace astra {
namespace {

using ::astra::testing::OperatorOf;
using ::astra::testing::SmallGpt;
using ::astra::testing::SmallLlama;
using ::astra::testing::StepTexts;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ModulePass kForward = ModulePass::kForward;
constexpr ModulePass kInput = ModulePass::kInputGradient;
constexpr ModulePass kWeight = ModulePass::kWeightGradient;

// Two sequences of 32 positions, 64 tokens, on TP 2.
ModuleContext SmallContext() {
  ModuleContext context;
  context.tensor = 2;
  context.sequences = 2;
  context.positions = 32;
  return context;
}

TEST(PaddedVocabularyTest, IsAMultipleOf128ForEachRank) {
  EXPECT_EQ(PaddedVocabulary(50257, 8, 128), 51200);
  EXPECT_EQ(PaddedVocabulary(50257, 1, 128), 50304);
  EXPECT_EQ(PaddedVocabulary(51200, 8, 128), 51200);
  EXPECT_EQ(PaddedVocabulary(50257, 8, 0), 50257);
  EXPECT_EQ(PaddedVocabulary(50257, 8, 1), 50264);
}

TEST(EmbeddingTest, SumsWhatTheRanksLookUp) {
  const MockModule module = Embedding(SmallLlama(), 512, SmallContext());
  EXPECT_EQ(module.name, "embedding_layer");
  EXPECT_EQ(module.parameters, 256 * 64);
  EXPECT_EQ(module.saved_bytes, 0);
  // 64 tokens of 64 x 2 B.
  EXPECT_THAT(StepTexts(module, kForward),
              ElementsAre("embedding", "all-reduce TP 8192 B"));
  EXPECT_THAT(StepTexts(module, kInput), ElementsAre("embedding"));
}

// The workspace holds 64 tokens and the 256 rows of the table.
TEST(EmbeddingTest, TheGradientOfTheTableIsThereAtOnce) {
  EXPECT_EQ(Embedding(SmallLlama(), 512, SmallContext()).workspace_bytes,
            2 * 64 * (64 + 256));
}

TEST(EmbeddingTest, ScattersTheSumForSequenceParallelism) {
  ModuleContext context = SmallContext();
  context.sequence_parallel = true;
  const MockModule module = Embedding(SmallLlama(), 512, context);
  EXPECT_THAT(StepTexts(module, kForward),
              ElementsAre("embedding", "reduce-scatter TP 8192 B"));
  EXPECT_THAT(StepTexts(module, kInput),
              ElementsAre("all-gather TP 8192 B", "embedding"));
}

TEST(EmbeddingTest, AddsLearnedPositionsToTheWholeSum) {
  ModuleContext context = SmallContext();
  context.sequence_parallel = true;
  const MockModule module = Embedding(SmallGpt(), 512, context);
  // Each rank has all 128 learned positions.
  EXPECT_EQ(module.parameters, 256 * 64 + 128 * 64);
  EXPECT_EQ(module.replicated_parameters, 128 * 64);
  EXPECT_EQ(module.summed_parameters, 0);  // All have the whole gradient.
  EXPECT_THAT(StepTexts(module, kForward),
              ElementsAre("embedding", "all-reduce TP 8192 B", "residual_add",
                          "dropout_add"));
  EXPECT_THAT(StepTexts(module, kInput),
              ElementsAre("dropout_add", "all-gather TP 8192 B", "residual_add",
                          "embedding"));
  EXPECT_EQ(module.saved_bytes, 32 * 64);  // The mask.
}

TEST(LogitsTest, SplitsTheVocabulary) {
  const MockModule module = Logits(SmallLlama(), 512, SmallContext());
  EXPECT_EQ(module.name, "final_column");
  EXPECT_EQ(module.parameters, 64 + 256 * 64);
  EXPECT_EQ(module.replicated_parameters, 64);
  EXPECT_EQ(std::get<Gemm>(OperatorOf(module, kForward, "logits").shape),
            (Gemm{1, 64, 256, 64}));
  EXPECT_THAT(StepTexts(module, kForward), ElementsAre("rms_norm", "logits"));
  EXPECT_THAT(StepTexts(module, kInput),
              ElementsAre("logits", "rms_norm", "launch all-reduce TP 8192 B"));
  EXPECT_THAT(StepTexts(module, kWeight), ElementsAre("logits", "wait TP"));
  // The inputs of the norm and of the product.
  EXPECT_EQ(module.saved_bytes, 64 * 2 * (64 + 64));
}

TEST(LogitsTest, ATiedTableIsThatOfTheEmbedding) {
  EXPECT_EQ(Logits(SmallGpt(), 512, SmallContext()).parameters, 2 * 64);
}

// Megatron-LM, arXiv 1909.08053, section 3: scalar losses instead of logits,
// here three numbers in FP32 for each of 64 tokens.
TEST(CrossEntropyTest, ReducesThreeNumbersForEachToken) {
  const MockModule module = CrossEntropy(512, SmallContext());
  EXPECT_EQ(module.name, "cross_entropy");
  EXPECT_THAT(StepTexts(module, kForward),
              ElementsAre("cross_entropy", "all-reduce TP 256 B",
                          "all-reduce TP 256 B", "all-reduce TP 256 B"));
  EXPECT_THAT(StepTexts(module, kInput), ElementsAre("cross_entropy"));
  EXPECT_EQ(module.saved_bytes, 4 * 64 * 256);  // In FP32.
  EXPECT_EQ(module.parameters, 0);
  EXPECT_THAT(StepTexts(CrossEntropy(512, ModuleContext()), kForward),
              ElementsAre("cross_entropy"));
}

// 64 tokens of 256 logits of 2 B on this rank: read twice and written once, and
// then read and written once more.
TEST(CrossEntropyTest, FusedKeepsTheGradientInPlaceOfTheLogits) {
  ModuleContext context = SmallContext();
  context.fused_loss = true;
  const MockModule module = CrossEntropy(512, context);
  EXPECT_EQ(BytesMoved(module, kForward), 3 * 2 * 64 * 256);
  EXPECT_EQ(BytesMoved(module, kInput), 2 * 2 * 64 * 256);
  EXPECT_EQ(module.saved_bytes, 2 * 64 * 256);
  EXPECT_EQ(module.workspace_bytes, 0);
  EXPECT_EQ(StepTexts(module, kForward),
            StepTexts(CrossEntropy(512, SmallContext()), kForward));
}

// Two metrics read 64 tokens of 256 logits of 2 B three times and write them.
TEST(CrossEntropyTest, MetricsComputeTheLossAgain) {
  ModuleContext context = SmallContext();
  const MockModule plain = CrossEntropy(512, context);
  context.loss_metrics = 2;
  const MockModule module = CrossEntropy(512, context);
  EXPECT_EQ(BytesMoved(module, kForward),
            BytesMoved(plain, kForward) + 2 * 4 * 2 * 64 * 256);
  EXPECT_EQ(BytesMoved(module, kInput), BytesMoved(plain, kInput));
  EXPECT_EQ(module.saved_bytes, plain.saved_bytes);
}

TEST(LogitsTest, InferenceNeedsTheLastPositionOnly) {
  ModuleContext context = SmallContext();
  context.training = false;
  const MockModule module = Logits(SmallLlama(), 512, context);
  EXPECT_EQ(std::get<Gemm>(OperatorOf(module, kForward, "logits").shape),
            (Gemm{1, 2, 256, 64}));
  // 2 tokens of 512 logits of 2 B.
  EXPECT_THAT(
      StepTexts(module, kForward),
      ElementsAre("rms_norm", "logits", "all-gather TP 2048 B", "sample"));
  EXPECT_THAT(StepTexts(module, kInput), IsEmpty());
}

}  // namespace
}  // namespace astra
