// What an iteration computes and keeps.

#include <string_view>

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"
#include "workload/generator/explain.h"
#include "workload/generator/training.h"
#include "workload/models/model_library.h"

namespace astra {
namespace {

using ::astra::testing::ModuleOf;
using ::astra::testing::SmallGpt;
using ::astra::testing::SmallLlama;
using ::astra::testing::SmallMoe;
using ::astra::testing::ValueOrDie;

// Two sequences of 32 positions, 64 tokens, on one rank.
TrainingSetup SmallSetup() {
  TrainingSetup setup;
  setup.micro_batch = 2;
  setup.global_batch = 2;
  setup.positions = 32;
  return setup;
}

StageTotals TotalsOf(const ModelSpec& model, const TrainingSetup& setup) {
  const Blueprint blueprint = ValueOrDie(TrainingBlueprint(model, setup));
  return Sum(blueprint, blueprint.stages.at(0));
}

ModelSpec Bundled(std::string_view name) {
  Warnings warnings;
  return ValueOrDie(FindModel(name, &warnings));
}

// Of 4 blocks: 2 sequences x 8 heads x (1 + ... + 32) pairs x 2 x (8 + 8).
constexpr double kScores = 4.0 * 2 * 8 * 528 * 2 * 16;

TEST(TrainingFlopsTest, CountsEveryProductThreeTimes) {
  // 64 x 96 + 64 x 64 + 3 x 64 x 192 weights in a block, 64 x 512 logits.
  constexpr double kWeights = 4 * (6144 + 4096 + 36864) + 32768;
  const StageTotals totals = TotalsOf(SmallLlama(), SmallSetup());
  EXPECT_EQ(totals.forward_flops, 2 * 64 * kWeights + kScores);
  // Flash attention computes the scores once more.
  EXPECT_EQ(totals.backward_flops, 4 * 64 * kWeights + 2.5 * kScores);
  EXPECT_EQ(totals.recompute_flops, 0);
}

TEST(TrainingFlopsTest, CountsTheChosenExpertsOnly) {
  // A router of 64 x 8, and 2 experts of 3 x 64 x 32.
  constexpr double kWeights = 4 * (6144 + 4096 + 512 + 2 * 6144) + 32768;
  const StageTotals totals = TotalsOf(SmallMoe(), SmallSetup());
  EXPECT_EQ(totals.forward_flops, 2 * 64 * kWeights + kScores);
  EXPECT_EQ(totals.backward_flops, 4 * 64 * kWeights + 2.5 * kScores);
}

TEST(TrainingFlopsTest, RanksShareTheWork) {
  const StageTotals whole = TotalsOf(SmallLlama(), SmallSetup());
  TrainingSetup setup = SmallSetup();
  setup.world_size = 4;
  setup.tensor = 2;
  setup.context = 2;
  const StageTotals one = TotalsOf(SmallLlama(), setup);
  EXPECT_EQ(4 * one.forward_flops, whole.forward_flops);
  EXPECT_EQ(4 * one.backward_flops, whole.backward_flops);
}

// GPT-3 175B: N = 96 x (12 h^2 + 13 h) + 2 h + 51200 h in products and norms,
// and half of 12 L h s for the causal scores.
TEST(TrainingFlopsPerTokenTest, IsSixNAndTheScores) {
  constexpr double kH = 12288;
  constexpr double kProducts =
      96 * (12 * kH * kH + 13 * kH) + 2 * kH + 51200 * kH;
  EXPECT_DOUBLE_EQ(TrainingFlopsPerToken(Bundled("gpt-175b"), 2048),
                   6 * kProducts + 6 * 96 * kH * 2048);
}

// A position of Mistral-7B's 131,072 sees 4,096 keys, or 4,032 in the mean.
TEST(TrainingFlopsPerTokenTest, AWindowBoundsTheScores) {
  ModelSpec model = Bundled("llama3-8b");
  const double products = TrainingFlopsPerToken(model, 2);
  auto& attention = std::get<FullAttention>(model.attention);
  attention.window = 4096;
  attention.window_every = 1;
  const double both = TrainingFlopsPerToken(model, 131072);
  EXPECT_NEAR(both - products, 6.0 * 32 * 2 * 4096 * (4032 - 1), 1e4);
  // Half of the layers.
  attention.window_every = 2;
  EXPECT_NEAR(TrainingFlopsPerToken(model, 131072) - products,
              6.0 * 16 * 2 * 4096 * (4032 + 65536 - 2), 1e4);
  EXPECT_EQ(TrainingFlopsPerToken(model, 4096),
            TrainingFlopsPerToken(Bundled("llama3-8b"), 4096));
}

// The estimate takes the scores backward as twice those forward, where flash
// attention has 2.5 times; and norms and biases as products.
TEST(TrainingFlopsPerTokenTest, IsWhatABlueprintHas) {
  for (const std::string_view name :
       {"llama2-7b", "llama3-8b", "qwen3-8b", "gpt-22b"}) {
    const ModelSpec model = Bundled(name);
    for (const int64_t positions : {256, 2048, 131072}) {
      if (model.positions == Positions::kLearned && positions > 2048) continue;
      TrainingSetup setup;
      setup.positions = positions;
      setup.vocabulary_divisor = 0;
      const StageTotals totals = TotalsOf(model, setup);
      const FullAttention& attention = std::get<FullAttention>(model.attention);
      // Of a token: s / 2 pairs of 2 x 2 x heads x dim, in every block.
      const auto scores = static_cast<double>(
          model.layers * 2 * positions * attention.heads * attention.head_dim);
      const double counted = (totals.forward_flops + totals.backward_flops) /
                             static_cast<double>(positions);
      EXPECT_NEAR(
          (counted - 0.5 * scores) / TrainingFlopsPerToken(model, positions), 1,
          0.002)
          << name << " at " << positions;
    }
  }
}

int64_t SavedByBlock(const ModelSpec& model, const TrainingSetup& setup) {
  int64_t sum = 0;
  for (const MockModule& module :
       BlockModules(model, 0, setup.module_context())) {
    sum += module.saved_bytes;
  }
  return sum;
}

constexpr int64_t kTokens = 64;
constexpr int64_t kHidden = 64;
constexpr int64_t kKeys = 16;  // Of SmallLlama: 2 heads of 8.
constexpr int64_t kFfn = 192;
constexpr int64_t kFloatBytes = 4;
constexpr int64_t kLogitBytes = kFloatBytes * 512;

// Korthikanti et al., arXiv 2205.05198, table 2, for s b tokens:
//   one rank               s b h (34 + 5 a s / h)
//   TP                     s b h (10 + 24 / t + 5 a s / (h t))
//   TP, sequence parallel  s b h (34 / t + 5 a s / (h t))
TEST(ActivationsTest, AreKorthikantisWithoutFlash) {
  constexpr int64_t kScoreBytes = int64_t{5} * 2 * 4 * 32 * 32;  // 5 b a s^2.
  TrainingSetup setup = SmallSetup();
  setup.flash_attention = false;
  EXPECT_EQ(SavedByBlock(SmallGpt(), setup),
            kTokens * kHidden * 34 + kScoreBytes);
  setup.tensor = 2;
  EXPECT_EQ(SavedByBlock(SmallGpt(), setup),
            kTokens * kHidden * (10 + 12) + kScoreBytes / 2);
  setup.sequence_parallel = true;
  EXPECT_EQ(SavedByBlock(SmallGpt(), setup),
            kTokens * kHidden * 17 + kScoreBytes / 2);
}

// Flash attention keeps a sum in FP32 for each query and head instead.
TEST(ActivationsTest, FlashKeepsASumInsteadOfScores) {
  TrainingSetup setup = SmallSetup();
  EXPECT_EQ(SavedByBlock(SmallGpt(), setup),
            kTokens * (kHidden * 34 + kFloatBytes * 4));
  setup.tensor = 2;
  setup.sequence_parallel = true;
  EXPECT_EQ(SavedByBlock(SmallGpt(), setup),
            kTokens * (kHidden * 17 + kFloatBytes * 2));
}

// SwiGLU, grouped queries, no dropout: in BF16 4 h for the inputs of norms and
// products, h for the output of attention, h + 2 kv for queries, keys and
// values, and 3 ffn; all divided by TP.
TEST(ActivationsTest, CountLlama) {
  constexpr int64_t kBytes =
      2 * (4 * kHidden + kHidden + (kHidden + 2 * kKeys) + 3 * kFfn) +
      kFloatBytes * 8;
  TrainingSetup setup = SmallSetup();
  EXPECT_EQ(SavedByBlock(SmallLlama(), setup), kTokens * kBytes);
  setup.tensor = 2;
  setup.sequence_parallel = true;
  EXPECT_EQ(SavedByBlock(SmallLlama(), setup), kTokens * kBytes / 2);
  setup.context = 2;
  EXPECT_EQ(SavedByBlock(SmallLlama(), setup), kTokens * kBytes / 4);
}

TEST(ActivationsTest, AStageAddsItsEnds) {
  // The inputs of the last norm and of the logits; the logits in FP32.
  EXPECT_EQ(TotalsOf(SmallLlama(), SmallSetup()).saved_bytes,
            4 * SavedByBlock(SmallLlama(), SmallSetup()) +
                kTokens * (4 * kHidden + kLogitBytes));
}

TEST(RecomputeTest, FullKeepsTheInputOfABlock) {
  TrainingSetup setup = SmallSetup();
  const StageTotals kept = TotalsOf(SmallLlama(), setup);
  setup.recompute = Recompute::kFull;
  const StageTotals totals = TotalsOf(SmallLlama(), setup);
  EXPECT_EQ(totals.saved_bytes,
            kTokens * kHidden * 4 * 2 + kTokens * (4 * kHidden + kLogitBytes));
  // All but the logits runs once more.
  EXPECT_EQ(totals.recompute_flops,
            totals.forward_flops - 2.0 * kTokens * 64 * 512);
  EXPECT_EQ(totals.forward_flops, kept.forward_flops);
  EXPECT_EQ(totals.backward_flops, kept.backward_flops);
}

TEST(RecomputeTest, FullMayStopBeforeTheLastProduct) {
  TrainingSetup setup = SmallSetup();
  setup.recompute = Recompute::kFull;
  const StageTotals whole = TotalsOf(SmallLlama(), setup);
  const StageTotals experts = TotalsOf(SmallMoe(), setup);
  setup.stops_recomputing = true;
  const StageTotals stopped = TotalsOf(SmallLlama(), setup);
  // The second product, 192 x 64, of each of 4 blocks.
  EXPECT_EQ(stopped.recompute_flops,
            whole.recompute_flops - 4 * 2.0 * kTokens * 192 * 64);
  EXPECT_EQ(stopped.saved_bytes, whole.saved_bytes);
  // The sum over experts needs what they return.
  EXPECT_EQ(TotalsOf(SmallMoe(), setup).recompute_flops,
            experts.recompute_flops);
}

TEST(RecomputeTest, FullRepeatsCollectives) {
  TrainingSetup setup = SmallSetup();
  setup.world_size = 2;
  setup.tensor = 2;
  setup.sequence_parallel = true;
  setup.recompute = Recompute::kFull;
  const Blueprint blueprint = ValueOrDie(TrainingBlueprint(SmallGpt(), setup));
  for (const std::string_view name : {"attention_column", "mlp_row"}) {
    const MockModule& module = ModuleOf(blueprint.modules, name);
    EXPECT_EQ(module.pass(ModulePass::kRecompute),
              module.pass(ModulePass::kForward));
  }
  // The half of it that the rank has.
  EXPECT_EQ(ModuleOf(blueprint.modules, "attention_column").saved_bytes,
            2 * kTokens * kHidden / 2);
}

TEST(RecomputeTest, SelectiveRepeatsTheScores) {
  TrainingSetup setup = SmallSetup();
  setup.recompute = Recompute::kSelective;
  EXPECT_EQ(TotalsOf(SmallLlama(), setup).recompute_flops, kScores);
  setup.flash_attention = false;
  // Both products of the whole square.
  EXPECT_EQ(TotalsOf(SmallLlama(), setup).recompute_flops,
            4.0 * 2 * 8 * 32 * 32 * 2 * 16);
}

// Three of 4 blocks have 4 heads of linear attention, with 6 x 8 x 16 FLOPs for
// the state and 2 x 64 x (3 x 8 + 2 x 16) in a chunk.
TEST(RecomputeTest, SelectiveRepeatsLinearAttention) {
  ModelSpec model = SmallLlama();
  model.other_attention = LinearAttention{.key_heads = 2,
                                          .value_heads = 4,
                                          .key_head_dim = 8,
                                          .value_head_dim = 16,
                                          .conv_kernel = 4,
                                          .full_attention_every = 4};
  TrainingSetup setup = SmallSetup();
  setup.recompute = Recompute::kSelective;
  EXPECT_EQ(TotalsOf(model, setup).recompute_flops,
            kScores / 4 + 3.0 * kTokens * 4 * (768 + 7168));
}

// Korthikanti et al., arXiv 2205.05198, table 2: s b h 34 / t are left.
TEST(RecomputeTest, SelectiveKeepsNoScores) {
  TrainingSetup setup = SmallSetup();
  setup.flash_attention = false;
  const int64_t kept = TotalsOf(SmallGpt(), setup).saved_bytes;
  setup.recompute = Recompute::kSelective;
  EXPECT_EQ(kept - TotalsOf(SmallGpt(), setup).saved_bytes,
            4 * 5 * 2 * 4 * 32 * 32);  // Blocks x 5 b a s^2.
}

}  // namespace
}  // namespace astra
