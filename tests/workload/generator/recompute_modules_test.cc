#include <string_view>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"
#include "workload/generator/training.h"

namespace astra {
namespace {

using ::astra::testing::ModuleOf;
using ::astra::testing::SmallDeepSeek;
using ::astra::testing::SmallLlama;
using ::astra::testing::SmallMoe;
using ::astra::testing::StatusIs;
using ::astra::testing::StepTexts;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum RecomputeModule;

constexpr int64_t kTokens = 64;  // Two sequences of 32 positions.

TrainingSetup SmallSetup() {
  TrainingSetup setup;
  setup.micro_batch = 2;
  setup.global_batch = 2;
  setup.positions = 32;
  return setup;
}

TrainingSetup Selective(RecomputeModules modules) {
  TrainingSetup setup = SmallSetup();
  setup.recompute = Recompute::kSelective;
  setup.recompute_modules = modules;
  return setup;
}

StageTotals TotalsOf(const ModelSpec& model, const TrainingSetup& setup) {
  const Blueprint blueprint = ValueOrDie(TrainingBlueprint(model, setup));
  return Sum(blueprint, blueprint.stages.at(0));
}

// Bytes that recomputing `modules` drops, and FLOPs that it adds.
struct Trade {
  int64_t dropped = 0;
  double repeated = 0;

  friend bool operator==(const Trade&, const Trade&) = default;
};

Trade TradeOf(RecomputeModules modules, const ModelSpec& model) {
  const StageTotals all = TotalsOf(model, SmallSetup());
  const StageTotals again = TotalsOf(model, Selective(modules));
  return {all.saved_bytes - again.saved_bytes, again.recompute_flops};
}

// SmallDeepSeek has three blocks of latent attention, one dense and two with
// experts; 4 heads of 8 + 4 for queries and keys and 8 for values.
constexpr int64_t kNorms = 6 * kTokens * 2 * 64;
constexpr int64_t kLatents = 3 * kTokens * 2 * (24 + 16);
constexpr int64_t kBytesOfProjections = 3 * kTokens * 2 * 4 * (12 + 12 + 8);
constexpr int64_t kActivations = 2 * 2 * kTokens * 2 * 32;  // To 2 experts.
constexpr int64_t kShared = 2 * kTokens * 2 * (2 * 32 + 32);
constexpr double kSharedFlops = 2.0 * 2 * kTokens * 3 * 64 * 32;

TEST(RecomputeModulesTest, WhatIsMadeAgainIsNotKept) {
  const ModelSpec model = SmallDeepSeek();
  EXPECT_EQ(TradeOf({}, model), (Trade{0, 0}));
  EXPECT_EQ(TradeOf(kCoreAttention, model).dropped, 3 * kTokens * 4 * 4);
  EXPECT_EQ(TradeOf(kLayerNorm, model), (Trade{kNorms, 0}));
  EXPECT_EQ(TradeOf(kLatentUpProjection, model),
            (Trade{kLatents + kBytesOfProjections,
                   3 * 2.0 * kTokens * 4 * (24 * 12 + 16 * 16)}));
  // The normed input, both inputs of SwiGLU and its output.
  EXPECT_EQ(TradeOf(kMlp, model), (Trade{kTokens * 2 * (64 + 3 * 192),
                                         2.0 * kTokens * 3 * 64 * 192}));
  EXPECT_EQ(TradeOf(kMoeActivation, model), (Trade{kActivations, 0}));
  EXPECT_EQ(TradeOf(kSharedExperts, model), (Trade{kShared, kSharedFlops}));
}

// The norms are two, and the dense feed-forward part is its norm and products.
TEST(RecomputeModulesTest, PartsMakeUpModules) {
  const ModelSpec model = SmallDeepSeek();
  RecomputeModules norms = kAttentionNorm;
  norms.Add(kFeedForwardNorm);
  EXPECT_EQ(TradeOf(norms, model), TradeOf(kLayerNorm, model));
  const Trade products = TradeOf(kFeedForwardProducts, model);
  EXPECT_EQ(products,
            (Trade{kTokens * 2 * 3 * 192, 2.0 * kTokens * 3 * 64 * 192}));
  // Two blocks: what SwiGLU takes and makes, for 2 experts of each token.
  EXPECT_EQ(TradeOf(kExpertProducts, model),
            (Trade{2 * 2 * kTokens * 2 * 3 * 32,
                   2 * 2.0 * 2 * kTokens * 3 * 64 * 32}));
  // Of the scores, without their normed input.
  EXPECT_EQ(TradeOf(kRouter, model),
            (Trade{2 * kTokens * 4 * 8, 2 * 2.0 * kTokens * 64 * 8}));
  // Latent vectors are kept, which their norms take.
  EXPECT_EQ(TradeOf(kLatentDown, model).dropped, 0);
}

// SmallLlama has four blocks.
TEST(RecomputeModulesTest, TheFirstBlocksOfAStageRecompute) {
  const ModelSpec model = SmallLlama();
  TrainingSetup setup = Selective(kMlp);
  const double all = TotalsOf(model, setup).recompute_flops;
  setup.recompute_method = RecomputeMethod::kBlock;
  setup.recompute_layers = 1;
  EXPECT_EQ(TotalsOf(model, setup).recompute_flops, all / 4);
  setup.recompute_layers = 0;
  EXPECT_EQ(TotalsOf(model, setup).recompute_flops, 0);
  EXPECT_EQ(TotalsOf(model, setup).saved_bytes,
            TotalsOf(model, SmallSetup()).saved_bytes);
}

// Of experts: the scores, what they take, SwiGLU's inputs and output, and what
// is summed in the end. The normed input stays, which the router keeps.
TEST(RecomputeModulesTest, ExpertsKeepTheirInputAlone) {
  constexpr int64_t kRouted = 2 * kTokens;
  constexpr int64_t kOfBlock =
      kTokens * 4 * 8 + kRouted * 2 * (64 + 3 * 32 + 64);
  EXPECT_EQ(TradeOf(kMoe, SmallDeepSeek()),
            (Trade{2 * kOfBlock + kShared,
                   2 * 2.0 * (kTokens * 64 * 8 + kRouted * 3 * 64 * 32) +
                       kSharedFlops}));
}

TEST(RecomputeModulesTest, ModulesShareNothingTwice) {
  RecomputeModules modules = kMoe;
  modules.Add(kMoeActivation);
  modules.Add(kSharedExperts);
  EXPECT_EQ(TradeOf(modules, SmallDeepSeek()), TradeOf(kMoe, SmallDeepSeek()));
  modules = kLayerNorm;
  modules.Add(kMlp);  // Which has a norm of its own.
  EXPECT_EQ(TradeOf(modules, SmallDeepSeek()).dropped,
            kNorms + kTokens * 2 * 3 * 192);
}

TEST(RecomputeModulesTest, StepsOfAModuleRunAgain) {
  const auto again = [](RecomputeModules modules, std::string_view name,
                        const ModelSpec& model) {
    const Blueprint blueprint =
        ValueOrDie(TrainingBlueprint(model, Selective(modules)));
    return StepTexts(ModuleOf(blueprint.modules, name), ModulePass::kRecompute);
  };
  EXPECT_THAT(again(kLayerNorm, "attention_linear_q_lora", SmallDeepSeek()),
              ElementsAre("rms_norm"));
  EXPECT_THAT(again(kLayerNorm, "attention_q_column", SmallDeepSeek()),
              IsEmpty());
  EXPECT_THAT(again(kLatentUpProjection, "attention_q_column", SmallDeepSeek()),
              ElementsAre("rms_norm", "q_up"));
  EXPECT_THAT(again(kLatentUpProjection, "attention_o_row", SmallDeepSeek()),
              ElementsAre("rope"));
  EXPECT_THAT(again(kMlp, "mlp_row", SmallDeepSeek()), ElementsAre("ffn_down"));
  EXPECT_THAT(again(kMoeActivation, "moe_experts", SmallDeepSeek()),
              ElementsAre("swiglu"));
  EXPECT_THAT(again(kOperators, "mlp_column", SmallLlama()),
              ElementsAre("rms_norm", "ffn_up", "swiglu"));
}

// Queries, keys and values are there again when the output projection and the
// scores go backward, and the normed latent vector that they are made of.
TEST(RecomputeModulesTest, WhatIsMadeAgainTakesWorkspace) {
  const auto memory = [](const TrainingSetup& setup) {
    const Blueprint blueprint =
        ValueOrDie(TrainingBlueprint(SmallDeepSeek(), setup));
    return ModuleOf(blueprint.modules, "attention_o_row").memory;
  };
  const ModuleMemory kept = memory(SmallSetup());
  const ModuleMemory again = memory(Selective(kLatentUpProjection));
  EXPECT_EQ(kept.saved - again.saved, Bytes(kBytesOfProjections / 3));
  EXPECT_EQ(again.workspace - kept.workspace,
            Bytes(kBytesOfProjections / 3 + kTokens * 2 * 16));
}

// Queries, values, the output of attention, SwiGLU's first input and the result
// are kept: products 1, 3, 5 and 7 of 7. Keys, the output projection and
// SwiGLU's second input run again.
TEST(RecomputeModulesTest, EverySecondProductRunsAgain) {
  const StageTotals full = [] {
    TrainingSetup setup = SmallSetup();
    setup.recompute = Recompute::kFull;
    return TotalsOf(SmallLlama(), setup);
  }();
  const StageTotals totals = TotalsOf(SmallLlama(), Selective(kOperators));
  constexpr int64_t kKept = 2 * (64 + 16 + 64 + 192 + 64) + 4 * 8;
  EXPECT_EQ(totals.saved_bytes - full.saved_bytes, 4 * kTokens * kKept);
  EXPECT_EQ(totals.recompute_flops, 4 * 2.0 * kTokens * 64 * (16 + 64 + 192));
}

TEST(RecomputeModulesTest, RefusesWhatTheModelLacks) {
  const auto error = [](const ModelSpec& model, const TrainingSetup& setup) {
    return TrainingBlueprint(model, setup).status();
  };
  constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(error(SmallLlama(), Selective(kMoe)),
              StatusIs(kInvalid,
                       "small-llama has no moe to recompute (it has: "
                       "core_attn, layernorm, mlp, op)"));
  EXPECT_THAT(error(SmallMoe(), Selective(kLatentUpProjection)),
              StatusIs(kInvalid,
                       "small-moe has no mla_up_proj to recompute (it has: "
                       "core_attn, layernorm, moe, moe_act, op)"));
  TrainingSetup setup = Selective(kSharedExperts);
  setup.shared_expert_overlap = true;
  setup.world_size = 2;
  setup.global_batch = 4;
  setup.expert = 2;
  EXPECT_THAT(
      error(SmallDeepSeek(), setup),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "shared_experts cannot be recomputed while they hide the "
               "way of tokens (--shared-expert-overlap)"));
}

TEST(RecomputeModulesTest, NamesAreThoseOfMegatron) {
  RecomputeModules both = kLayerNorm;
  both.Add(kMoeActivation);
  EXPECT_EQ(ValueOrDie(ParseRecomputeModules({"moe_act", "layernorm"})), both);
  EXPECT_THAT(
      ParseRecomputeModules({"mlp", "moe_act", "mlp"}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, "mlp stands there twice"));
  EXPECT_THAT(ParseRecomputeModules({"op", "mlp"}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "op,mlp: op decides about every operator and stands "
                       "alone"));
}

// 4 heads of 8 of an output, in BF16 and as the product's copy in FP8, or once
// in 12 bits.
TEST(RecomputeModulesTest, ProductsInFp8KeepTheirOwnCopies) {
  const auto saved = [](std::string_view name, TrainingSetup setup) {
    const Blueprint blueprint =
        ValueOrDie(TrainingBlueprint(SmallDeepSeek(), setup));
    return ModuleOf(blueprint.modules, name).saved_bytes;
  };
  TrainingSetup setup = SmallSetup();
  const int64_t in_bf16 = saved("attention_o_row", setup);
  EXPECT_EQ(saved("shared_column", setup), kTokens * 2 * 2 * 32);
  setup.precision = Precision::kFp8;
  EXPECT_EQ(saved("attention_o_row", setup) - in_bf16, kTokens * 32);
  EXPECT_EQ(saved("shared_column", setup), kTokens * (2 * 2 * 32 + 64));
  setup.shared_output_bits = 12;
  EXPECT_EQ(in_bf16 - saved("attention_o_row", setup), kTokens * 32 / 2);
  setup.fp8_activation_inputs = true;
  EXPECT_EQ(saved("shared_column", setup), kTokens * (2 * 32 + 64));
}

}  // namespace
}  // namespace astra
