#include "workload/attention/linear_attention.h"

#include <variant>

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"

namespace astra {
namespace {

using ::astra::testing::OperatorOf;
using ::astra::testing::SmallLlama;
using ::astra::testing::StepTexts;
using ::testing::ElementsAre;

constexpr ModulePass kForward = ModulePass::kForward;
constexpr ModulePass kInput = ModulePass::kInputGradient;

// Keys and queries are 2 x 8 wide, values 4 x 16.
ModelSpec Hybrid() {
  ModelSpec model = SmallLlama();
  model.other_attention = LinearAttention{.key_heads = 2,
                                          .value_heads = 4,
                                          .key_head_dim = 8,
                                          .value_head_dim = 16,
                                          .conv_kernel = 4,
                                          .full_attention_every = 4};
  return model;
}

std::vector<MockModule> ModulesOf(const ModelSpec& model,
                                  const ModuleContext& context) {
  return std::get<LinearAttention>(*model.other_attention)
      .Modules(model, 0, context);
}

// Two sequences of 32 positions: 64 tokens.
ModuleContext SmallContext(int64_t tensor = 1) {
  ModuleContext context;
  context.tensor = tensor;
  context.sequences = 2;
  context.positions = 32;
  return context;
}

TEST(LinearAttentionTest, CountsParameters) {
  const auto modules = ModulesOf(Hybrid(), SmallContext());
  // The norm; queries, keys and values, the output gate, a rate and a decay for
  // each of 4 heads; a convolution of 4 over queries, keys and values.
  EXPECT_EQ(modules.at(0).name, "attention_gdn_column");
  EXPECT_EQ(modules[0].parameters,
            64 + 64 * (16 + 16 + 64 + 64 + 2 * 4) + 4 * (16 + 16 + 64));
  // Two numbers for each head, a norm of 16, and the output.
  EXPECT_EQ(modules.at(1).name, "attention_gdn_row");
  EXPECT_EQ(modules[1].parameters, 2 * 4 + 16 + 64 * 64);
}

TEST(LinearAttentionTest, TensorParallelismSplitsHeads) {
  const auto modules = ModulesOf(Hybrid(), SmallContext(2));
  EXPECT_EQ(modules[0].parameters, 64 + 64 * 84 + 4 * 48);
  EXPECT_EQ(modules[0].replicated_parameters, 64);
  EXPECT_EQ(modules[1].parameters, 2 * 2 + 16 + 32 * 64);
  EXPECT_EQ(modules[1].replicated_parameters, 16);
  // 64 tokens of 64 x 2 B.
  EXPECT_THAT(StepTexts(modules[1], kForward),
              ElementsAre("delta_rule", "rms_norm", "output_linear",
                          "all-reduce TP 8192 B", "residual_add"));
  EXPECT_THAT(StepTexts(modules[0], kInput),
              ElementsAre("conv", "qkv_linear", "rms_norm",
                          "launch all-reduce TP 8192 B"));
}

TEST(LinearAttentionTest, RunsTheDeltaRuleOverValueHeads) {
  const auto modules = ModulesOf(Hybrid(), SmallContext(2));
  const auto rule = [&](ModulePass pass) {
    return std::get<DeltaRule>(
        OperatorOf(modules[1], pass, "delta_rule").shape);
  };
  DeltaRule expected = {
      .batch = 2, .positions = 32, .heads = 2, .key_dim = 8, .value_dim = 16};
  EXPECT_EQ(rule(kForward), expected);
  expected.backward = true;
  EXPECT_EQ(rule(kInput), expected);
}

TEST(LinearAttentionTest, TheStateHasAFixedSize) {
  ModuleContext context = SmallContext();
  context.training = false;
  for (const int64_t past : {0, 1000}) {
    context.past = past;
    const auto modules = ModulesOf(Hybrid(), context);
    // FP32, for 2 sequences and 4 heads: 8 x 16.
    EXPECT_EQ(modules[0].kv_cache_bytes + modules[1].kv_cache_bytes,
              4 * 2 * 4 * 8 * 16);
  }
}

}  // namespace
}  // namespace astra
