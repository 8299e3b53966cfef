#include "workload/attention/latent_attention.h"

#include <string>
#include <variant>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"

namespace astra {
namespace {

using ::astra::testing::CollectiveTexts;
using ::astra::testing::ModuleOf;
using ::astra::testing::OperatorOf;
using ::astra::testing::SmallDeepSeek;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ModulePass kForward = ModulePass::kForward;
constexpr ModulePass kInput = ModulePass::kInputGradient;
constexpr ModulePass kWeight = ModulePass::kWeightGradient;

std::vector<MockModule> ModulesOf(const ModelSpec& model,
                                  const ModuleContext& context) {
  return std::get<LatentAttention>(model.attention).Modules(model, 0, context);
}

// Two sequences of 32 positions: 64 tokens.
ModuleContext SmallContext(int64_t tensor = 1) {
  ModuleContext context;
  context.tensor = tensor;
  context.sequences = 2;
  context.positions = 32;
  return context;
}

// The next position of two sequences of 99.
ModuleContext Decode() {
  ModuleContext context = SmallContext();
  context.training = false;
  context.positions = 1;
  context.past = 99;
  return context;
}

int64_t Parameters(const std::vector<MockModule>& modules) {
  int64_t sum = 0;
  for (const MockModule& module : modules) sum += module.parameters;
  return sum;
}

std::vector<std::string> Names(const std::vector<MockModule>& modules) {
  std::vector<std::string> names;
  names.reserve(modules.size());
  for (const MockModule& module : modules) names.push_back(module.name);
  return names;
}

TEST(LatentAttentionTest, CountsDeepSeekV3) {
  ModelSpec model = SmallDeepSeek();
  model.hidden = 7168;
  model.attention = LatentAttention{.heads = 128,
                                    .q_lora_rank = 1536,
                                    .kv_lora_rank = 512,
                                    .nope_head_dim = 128,
                                    .rope_head_dim = 64,
                                    .v_head_dim = 128};
  const auto modules = ModulesOf(model, SmallContext());
  EXPECT_THAT(Names(modules),
              ElementsAre("attention_linear_q_lora", "attention_q_column",
                          "attention_linear_kv_lora", "attention_kv_column",
                          "attention_o_row"));
  // 7168 x 1536                 11,010,048, and the norm of the block's input
  // 1536 x 128 x (128 + 64)     37,748,736, and a norm of 1536
  // 7168 x (512 + 64)            4,128,768
  // 512 x 128 x (128 + 128)     16,777,216, and a norm of 512
  // 128 x 128 x 7168           117,440,512
  EXPECT_EQ(modules[0].parameters, 11'010'048 + 7168);
  EXPECT_EQ(modules[1].parameters, 37'748'736 + 1536);
  EXPECT_EQ(modules[2].parameters, 4'128'768);
  EXPECT_EQ(modules[3].parameters, 16'777'216 + 512);
  EXPECT_EQ(modules[4].parameters, 117'440'512);
  EXPECT_EQ(Parameters(modules), 187'107'328 + 7168);
}

TEST(LatentAttentionTest, CountsDeepSeekV2LiteWithoutLatentQueries) {
  ModelSpec model = SmallDeepSeek();
  model.hidden = 2048;
  model.attention = LatentAttention{.heads = 16,
                                    .q_lora_rank = 0,
                                    .kv_lora_rank = 512,
                                    .nope_head_dim = 128,
                                    .rope_head_dim = 64,
                                    .v_head_dim = 128};
  const auto modules = ModulesOf(model, SmallContext());
  EXPECT_THAT(Names(modules),
              ElementsAre("attention_q_column", "attention_linear_kv_lora",
                          "attention_kv_column", "attention_o_row"));
  // 2048 + 2048 x 3072, 2048 x 576, 512 + 512 x 4096, 2048 x 2048.
  EXPECT_EQ(Parameters(modules), 13'765'120);
}

TEST(LatentAttentionTest, HeadsAreSplitAndLatentVectorsAreNot) {
  const auto modules = ModulesOf(SmallDeepSeek(), SmallContext(2));
  // Of 2 of the 4 heads; the rest is on both ranks.
  EXPECT_EQ(modules[0].parameters, 64 + 64 * 24);
  EXPECT_EQ(modules[0].replicated_parameters, 64 + 64 * 24);
  EXPECT_EQ(modules[1].parameters, 24 + 24 * 2 * 12);
  EXPECT_EQ(modules[1].replicated_parameters, 24);
  EXPECT_EQ(modules[2].replicated_parameters, 64 * 20);
  EXPECT_EQ(modules[3].parameters, 16 + 16 * 2 * 16);
  EXPECT_EQ(modules[3].replicated_parameters, 16);
  EXPECT_EQ(modules[4].parameters, 2 * 8 * 64);
  EXPECT_EQ(modules[4].replicated_parameters, 0);
}

TEST(LatentAttentionTest, GathersLatentVectorsAlone) {
  ModuleContext context = SmallContext(2);
  context.sequence_parallel = true;
  const auto modules = ModulesOf(SmallDeepSeek(), context);
  // 64 tokens of 24 x 2 B; of (16 + 4) x 2 B, which are not projected; and of
  // hidden states, 64 x 2 B.
  EXPECT_THAT(CollectiveTexts(modules[0], kForward), IsEmpty());
  EXPECT_THAT(CollectiveTexts(modules[1], kForward),
              ElementsAre("all-gather TP 3072 B"));
  EXPECT_THAT(CollectiveTexts(modules[2], kForward), IsEmpty());
  EXPECT_THAT(CollectiveTexts(modules[3], kForward),
              ElementsAre("all-gather TP 2560 B"));
  EXPECT_THAT(CollectiveTexts(modules[4], kForward),
              ElementsAre("reduce-scatter TP 8192 B"));
  EXPECT_THAT(CollectiveTexts(modules[3], kInput),
              ElementsAre("launch all-gather TP 2560 B, hidden", "wait TP",
                          "launch reduce-scatter TP 2560 B"));
  EXPECT_THAT(CollectiveTexts(modules[3], kWeight), ElementsAre("wait TP"));
  // The vectors themselves are made of the split tokens.
  EXPECT_EQ(
      OperatorOf(modules[0], kForward, "q_down").shape,
      (std::variant<Gemm, Attention, DeltaRule, Stream>(Gemm{1, 32, 24, 64})));
}

TEST(LatentAttentionTest, ProjectsKeysAndValuesInTraining) {
  const auto modules = ModulesOf(SmallDeepSeek(), SmallContext());
  const auto core =
      std::get<Attention>(OperatorOf(modules[4], kForward, "attention").shape);
  EXPECT_EQ(core, (Attention{.batch = 2,
                             .queries = 32,
                             .keys = 32,
                             .heads = 4,
                             .kv_heads = 4,
                             .qk_dim = 12,
                             .v_dim = 8}));
  // Of each token, in BF16: the input of the norm and the normed state; the
  // latent vectors before and after their norms; queries and keys of 4 x 12,
  // values and outputs of 4 x 8; and 4 sums in FP32.
  int64_t saved = 0;
  for (const MockModule& module : modules) saved += module.saved_bytes;
  EXPECT_EQ(saved,
            64 * (2 * (64 + 64 + 2 * 24 + 2 * 16 + 2 * 48 + 2 * 32) + 4 * 4));
}

// DeepSeek-V2, arXiv 2405.04434, appendix C: the projections of keys and values
// are absorbed, so that all heads read the one latent vector.
TEST(LatentAttentionTest, DecodeReadsLatentVectors) {
  const auto modules = ModulesOf(SmallDeepSeek(), Decode());
  const MockModule& column = ModuleOf(modules, "attention_kv_column");
  const MockModule& row = ModuleOf(modules, "attention_o_row");
  // For each of 4 heads: 2 queries of 8 to the 16 of the vector, and back.
  EXPECT_EQ(std::get<Gemm>(OperatorOf(column, kForward, "kv_up").shape),
            (Gemm{4, 2, 16, 8}));
  EXPECT_EQ(std::get<Gemm>(OperatorOf(row, kForward, "kv_up").shape),
            (Gemm{4, 2, 8, 16}));
  const auto core =
      std::get<Attention>(OperatorOf(row, kForward, "attention").shape);
  EXPECT_EQ(core.queries, 1);
  EXPECT_EQ(core.keys, 100);
  EXPECT_EQ(core.heads, 4);
  EXPECT_EQ(core.kv_heads, 1);
  EXPECT_EQ(core.qk_dim, 16 + 4);
  EXPECT_EQ(core.v_dim, 16);
  // 100 positions of 2 sequences, (16 + 4) x 2 B each, whatever TP is.
  EXPECT_EQ(row.kv_cache_bytes, 100 * 2 * 20 * 2);
}

TEST(LatentAttentionTest, AbsorbingMovesNoParameters) {
  ModuleContext prefill = Decode();
  prefill.positions = 32;
  EXPECT_EQ(Parameters(ModulesOf(SmallDeepSeek(), Decode())),
            Parameters(ModulesOf(SmallDeepSeek(), prefill)));
}

// Values are part of the keys: 100 positions of 2 sequences are read once, 20
// elements of 2 B; queries of 20 and results of 16 for 4 heads.
TEST(LatentAttentionTest, DecodeReadsTheCacheOnce) {
  const auto modules = ModulesOf(SmallDeepSeek(), Decode());
  EXPECT_EQ(BytesMoved(OperatorOf(modules.back(), kForward, "attention")),
            2 * 2 * (100 * 20 + 4 * (20 + 16)));
}

// Keys and values of what is cached are projected, too: 2 x (100 + 32) tokens.
TEST(LatentAttentionTest, ALaterChunkProjectsTheCache) {
  ModuleContext context = SmallContext();
  context.training = false;
  context.past = 100;
  const auto modules = ModulesOf(SmallDeepSeek(), context);
  const auto& column = ModuleOf(modules, "attention_kv_column");
  EXPECT_EQ(std::get<Gemm>(OperatorOf(column, kForward, "kv_up").shape).m, 264);
}

}  // namespace
}  // namespace astra
