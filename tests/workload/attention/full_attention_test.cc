#include "workload/attention/full_attention.h"

#include <string>
#include <variant>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"

namespace astra {
namespace {

using ::astra::testing::OperatorOf;
using ::astra::testing::SmallGpt;
using ::astra::testing::SmallLlama;
using ::astra::testing::StepTexts;
using ::testing::ElementsAre;

constexpr ModulePass kForward = ModulePass::kForward;
constexpr ModulePass kInput = ModulePass::kInputGradient;

// Two sequences of 32 positions: 64 tokens.
ModuleContext SmallContext(int64_t tensor = 1) {
  ModuleContext context;
  context.tensor = tensor;
  context.sequences = 2;
  context.positions = 32;
  return context;
}

std::vector<MockModule> Modules(const ModelSpec& model,
                                const ModuleContext& context,
                                int64_t layer = 0) {
  return std::get<FullAttention>(model.attention)
      .Modules(model, layer, context);
}
MockModule Column(const ModelSpec& model, const ModuleContext& context) {
  return Modules(model, context).at(0);
}
MockModule Row(const ModelSpec& model, const ModuleContext& context) {
  return Modules(model, context).at(1);
}

Attention CoreOf(const MockModule& row, ModulePass pass = kForward) {
  return std::get<Attention>(OperatorOf(row, pass, "attention").shape);
}

Gemm ProductOf(const MockModule& module, std::string_view name) {
  return std::get<Gemm>(OperatorOf(module, kForward, name).shape);
}

TEST(FullAttentionTest, GroupedQueriesShareKeys) {
  // 8 query heads and 2 + 2 for keys and values, of 8.
  const MockModule column = Column(SmallLlama(), SmallContext());
  EXPECT_EQ(column.name, "attention_column");
  EXPECT_EQ(ProductOf(column, "qkv_linear"), (Gemm{1, 64, 96, 64}));
  EXPECT_EQ(column.parameters, 64 + 64 * 96);
  EXPECT_EQ(column.replicated_parameters, 64);  // The norm.
  const MockModule row = Row(SmallLlama(), SmallContext());
  EXPECT_EQ(row.name, "attention_row");
  EXPECT_EQ(row.parameters, 64 * 64);
  EXPECT_EQ(row.replicated_parameters, 0);
}

TEST(FullAttentionTest, EveryRankHasAKeyHead) {
  // TP 4: 2 query heads, and one of the 2 key heads on two ranks each.
  const MockModule column = Column(SmallLlama(), SmallContext(4));
  EXPECT_EQ(ProductOf(column, "qkv_linear"), (Gemm{1, 64, 32, 64}));
  EXPECT_EQ(column.parameters, 64 + 64 * 32);
  const MockModule row = Row(SmallLlama(), SmallContext(4));
  EXPECT_EQ(CoreOf(row).heads, 2);
  EXPECT_EQ(CoreOf(row).kv_heads, 1);
  EXPECT_EQ(row.parameters, 16 * 64);
}

TEST(FullAttentionTest, CountsBiasesNormsGatesAndSinks) {
  // GPT: a norm of 2 x 64, 64 x 192 + 192, 64 x 64 + 64.
  EXPECT_EQ(Column(SmallGpt(), SmallContext()).parameters, 128 + 12288 + 192);
  EXPECT_EQ(Column(SmallGpt(), SmallContext(2)).parameters, 128 + 6144 + 96);
  const MockModule row = Row(SmallGpt(), SmallContext(2));
  EXPECT_EQ(row.parameters, 2048 + 64);
  EXPECT_EQ(row.replicated_parameters, 64);

  ModelSpec model = SmallLlama();
  std::get<FullAttention>(model.attention).qk_norm = true;  // 8 each.
  std::get<FullAttention>(model.attention).output_gate = true;
  std::get<FullAttention>(model.attention).sinks = true;
  const MockModule column = Column(model, SmallContext());
  EXPECT_EQ(column.parameters, 64 + 64 * (64 + 96) + 16);
  EXPECT_EQ(column.replicated_parameters, 64 + 16);
  EXPECT_EQ(Row(model, SmallContext()).parameters, 64 * 64 + 8);
}

TEST(FullAttentionTest, RunsInThisOrder) {
  ModelSpec model = SmallLlama();
  EXPECT_THAT(StepTexts(Column(model, SmallContext()), kForward),
              ElementsAre("rms_norm", "qkv_linear", "rope"));
  EXPECT_THAT(StepTexts(Column(model, SmallContext()), kInput),
              ElementsAre("rope", "qkv_linear", "rms_norm"));
  EXPECT_THAT(StepTexts(Row(model, SmallContext()), kForward),
              ElementsAre("attention", "output_linear", "residual_add"));
  EXPECT_THAT(StepTexts(Column(SmallGpt(), SmallContext()), kForward),
              ElementsAre("layer_norm", "qkv_linear"));
}

TEST(FullAttentionTest, KeepsWhatTheBackwardPassNeeds) {
  // 64 tokens of BF16: the input of the norm and of the product.
  EXPECT_EQ(Column(SmallLlama(), SmallContext()).saved_bytes,
            64 * 2 * (64 + 64));
  // Queries, keys and values; an FP32 sum for each head; the output.
  EXPECT_EQ(Row(SmallLlama(), SmallContext()).saved_bytes,
            64 * (2 * 96 + 4 * 8 + 2 * 64));
  // Without sequence parallelism only what is inside of the region is split;
  ModuleContext context = SmallContext(2);
  EXPECT_EQ(Column(SmallLlama(), context).saved_bytes, 64 * 2 * (64 + 64));
  EXPECT_EQ(Row(SmallLlama(), context).saved_bytes,
            64 * (2 * 48 + 4 * 4 + 2 * 32));
  // with it, all is.
  context.sequence_parallel = true;
  EXPECT_EQ(Column(SmallLlama(), context).saved_bytes, 32 * 2 * (64 + 64));
}

TEST(FullAttentionTest, CountsTheCausalHalf) {
  // 2 sequences x 8 heads x (1 + ... + 32) pairs x 2 x (8 + 8) FLOPs.
  const MockModule row = Row(SmallLlama(), SmallContext());
  EXPECT_EQ(Flops(OperatorOf(row, kForward, "attention")),
            2 * 8 * 528 * 2 * 16);
  EXPECT_EQ(Flops(OperatorOf(row, kInput, "attention")),
            2.5 * 2 * 8 * 528 * 2 * 16);
}

TEST(FullAttentionTest, WindowsAreGivenToTheScores) {
  ModelSpec model = SmallLlama();
  std::get<FullAttention>(model.attention).window = 4;
  std::get<FullAttention>(model.attention).window_every = 2;
  const auto with = Modules(model, SmallContext());
  EXPECT_EQ(CoreOf(with.at(1)).window, 4);
  // 1 + 2 + 3 + 29 x 4 pairs.
  EXPECT_EQ(Flops(OperatorOf(with.at(1), kForward, "attention")),
            2 * 8 * 122 * 2 * 16);
  EXPECT_EQ(CoreOf(Modules(model, SmallContext(), 1).at(1)).window, 0);
}

// Each of 2 ranks has 2 x 16 tokens, of which keys and values are 2 heads x
// (8 + 8) x 2 B = 64 B: 4096 B of the whole sequences.
ModuleContext Split(ContextMethod method) {
  ModuleContext context = SmallContext();
  context.context = 2;
  context.context_method = method;
  return context;
}

double AttentionFlops(const MockModule& module, ModulePass pass) {
  double flops = 0;
  for (const ModuleStep& step : module.pass(pass)) {
    if (step.kind != StepKind::kCompute || step.op.name != "attention")
      continue;
    flops += Flops(step.op);
  }
  return flops;
}

// A share of 1 / CP of the causal triangle each.
void ExpectItsShareOfTheScores(const MockModule& row, int64_t context) {
  const MockModule whole = Row(SmallLlama(), SmallContext());
  for (const ModulePass pass : {kForward, kInput}) {
    EXPECT_EQ(static_cast<double>(context) * AttentionFlops(row, pass),
              AttentionFlops(whole, pass));
  }
}

// Ring attention, arXiv 2310.01889: gradients travel with keys and values. The
// last step needs what came last.
TEST(ContextParallelismTest, ARingHidesKeysAndValuesButOfItsLastStep) {
  ModuleContext context = Split(ContextMethod::kRing);
  context.context = 4;
  const MockModule row = Row(SmallLlama(), context);
  EXPECT_THAT(StepTexts(row, kForward),
              ElementsAre("launch all-gather CP 4096 B", "attention",
                          "attention", "attention", "wait CP", "attention",
                          "output_linear", "residual_add"));
  EXPECT_THAT(StepTexts(row, kInput),
              ElementsAre("residual_add", "output_linear",
                          "launch all-gather CP 8192 B", "attention",
                          "attention", "attention", "wait CP", "attention"));
  ExpectItsShareOfTheScores(row, 4);
}

// A rank computes the causal half of its own 8 queries. Of the keys of others,
// all its queries see the early 4 or, which is as much, the late queries all 8.
TEST(ContextParallelismTest, AllStepsOfARingHaveAsManyPairs) {
  ModuleContext context = Split(ContextMethod::kRing);
  context.context = 4;
  const MockModule row = Row(SmallLlama(), context);
  std::vector<std::string> shapes;
  for (const ModuleStep& step : row.pass(kForward)) {
    const auto* attention = std::get_if<Attention>(&step.op.shape);
    if (attention == nullptr) continue;
    shapes.push_back(fmt::format("{} x {}{}", attention->queries,
                                 attention->keys,
                                 attention->causal ? " causal" : ""));
  }
  EXPECT_THAT(shapes, ElementsAre("8 x 8 causal", "8 x 4", "8 x 4", "8 x 4"));
}

TEST(ContextParallelismTest, ARingWithAWindowIsOneStep) {
  ModelSpec model = SmallLlama();
  std::get<FullAttention>(model.attention).window = 4;
  std::get<FullAttention>(model.attention).window_every = 1;
  const MockModule row = Modules(model, Split(ContextMethod::kRing)).at(1);
  EXPECT_THAT(StepTexts(row, kForward),
              ElementsAre("launch all-gather CP 4096 B", "attention", "wait CP",
                          "output_linear", "residual_add"));
}

// Llama 3, arXiv 2407.21783, section 3.3.2.
TEST(ContextParallelismTest, AllGatherWaitsForKeysAndValues) {
  const MockModule row = Row(SmallLlama(), Split(ContextMethod::kAllGather));
  EXPECT_THAT(StepTexts(row, kForward),
              ElementsAre("all-gather CP 4096 B", "attention", "output_linear",
                          "residual_add"));
  EXPECT_THAT(
      StepTexts(row, kInput),
      ElementsAre("residual_add", "output_linear", "all-gather CP 4096 B",
                  "attention", "reduce-scatter CP 4096 B"));
  ExpectItsShareOfTheScores(row, 2);
}

// Ulysses, arXiv 2309.14509: 32 tokens with all heads become 64 tokens with
// half of the heads. Queries, keys and values: 32 x (128 + 64) B; the output:
// 32 x 128 B.
TEST(ContextParallelismTest, AllToAllTradesPositionsForHeads) {
  const MockModule row = Row(SmallLlama(), Split(ContextMethod::kAllToAll));
  EXPECT_THAT(
      StepTexts(row, kForward),
      ElementsAre("all-to-all CP 6144 B", "attention", "all-to-all CP 4096 B",
                  "output_linear", "residual_add"));
  EXPECT_THAT(
      StepTexts(row, kInput),
      ElementsAre("residual_add", "output_linear", "all-to-all CP 4096 B",
                  "attention", "all-to-all CP 6144 B"));
  EXPECT_EQ(CoreOf(row).queries, 32);
  EXPECT_EQ(CoreOf(row).keys, 32);
  EXPECT_EQ(CoreOf(row).heads, 4);
  ExpectItsShareOfTheScores(row, 2);
}

TEST(ContextParallelismTest, KeepsItsOwnPositions) {
  for (const ContextMethod method :
       {ContextMethod::kRing, ContextMethod::kAllGather,
        ContextMethod::kAllToAll}) {
    // The output of attention is kept before and after an all-to-all.
    const int64_t twice = method == ContextMethod::kAllToAll ? 4096 : 0;
    EXPECT_EQ(2 * (Row(SmallLlama(), Split(method)).saved_bytes - twice),
              Row(SmallLlama(), SmallContext()).saved_bytes);
  }
}

// Transformer Engine before 2.8; the output of 32 tokens is 128 B each.
TEST(ContextParallelismTest, MayKeepTheExchangedOutputOnly) {
  ModuleContext context = Split(ContextMethod::kAllToAll);
  const int64_t both = Row(SmallLlama(), context).saved_bytes;
  context.keeps_both_outputs = false;
  EXPECT_EQ(both - Row(SmallLlama(), context).saved_bytes, 32 * 128);
}

// Queries, keys and values of 32 tokens are 192 B each, and are there four
// times; the gradient of the output is there twice. The product after attention
// saves 128 B more, which are gone by then.
TEST(ContextParallelismTest, AnAllToAllHasItsTensorsFourTimes) {
  EXPECT_EQ(Row(SmallLlama(), Split(ContextMethod::kAllToAll)).workspace_bytes,
            32 * (4 * 192 + 2 * 128 - 128));
}

TEST(FullAttentionTest, WithoutFlashTheScoresAreStored) {
  ModuleContext context = SmallContext();
  context.flash_attention = false;
  const MockModule row = Row(SmallGpt(), context);
  EXPECT_THAT(StepTexts(row, kForward),
              ElementsAre("attention_product", "softmax", "attention_product",
                          "output_linear", "dropout_add"));
  EXPECT_THAT(StepTexts(row, kInput),
              ElementsAre("dropout_add", "output_linear", "attention_product",
                          "attention_product", "softmax", "attention_product",
                          "attention_product"));
  // 2 x 4 heads of 32 x 32 x 16, all of the square.
  EXPECT_EQ(Flops(OperatorOf(row, kForward, "attention_product")),
            2 * 8 * 32 * 32 * 16);
  // Queries, keys, values and output; 5 B for each score; a mask of dropout.
  EXPECT_EQ(row.saved_bytes, 64 * 2 * 4 * 64 + 5 * 8 * 32 * 32 + 64 * 64);
}

TEST(FullAttentionTest, ReadsTheCacheInInference) {
  ModuleContext context = SmallContext(2);
  context.training = false;
  context.positions = 1;
  context.past = 99;
  const MockModule column = Column(SmallLlama(), context);
  EXPECT_THAT(StepTexts(column, kForward),
              ElementsAre("rms_norm", "qkv_linear", "rope", "kv_cache_write"));
  // One key head: 2 x 8 elements of 2 B for 100 positions of 2 sequences.
  EXPECT_EQ(column.kv_cache_bytes, 2 * 8 * 2 * 100 * 2);
  EXPECT_EQ(column.saved_bytes, 0);
  const MockModule row = Row(SmallLlama(), context);
  EXPECT_EQ(CoreOf(row).queries, 1);
  EXPECT_EQ(CoreOf(row).keys, 100);
  // 2 tokens of 64 x 2 B.
  EXPECT_THAT(StepTexts(row, kForward),
              ElementsAre("attention", "output_linear", "all-reduce TP 256 B",
                          "residual_add"));
}

// Eight key heads, of which a rank has half.
TEST(ContextParallelismTest, AllToAllSplitsKeyHeadsToo) {
  ModelSpec model = SmallLlama();
  std::get<FullAttention>(model.attention).kv_heads = 8;
  EXPECT_EQ(CoreOf(Row(model, Split(ContextMethod::kAllToAll))).kv_heads, 4);
}

}  // namespace
}  // namespace astra
