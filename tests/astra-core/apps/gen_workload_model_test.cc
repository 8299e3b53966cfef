// The model that gen_workload's command line describes.

#include <cstdint>
#include <string>
#include <utility>

#include "astra-core/apps/gen_workload_options.h"
#include "tests/testing/command_lines.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ParseArguments;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

absl::StatusOr<ModelSpec> TryModel(const std::string& arguments) {
  Warnings warnings;
  return ReadModelOptions(
      ValueOrDie(ParseArguments(GenWorkloadOptionSpecs(), arguments,
                                kGenWorkloadOperands)),
      &warnings);
}
ModelSpec ModelOf(const std::string& arguments) {
  return ValueOrDie(TryModel(arguments));
}

auto Says(const std::string& message) {
  return StatusIs(absl::StatusCode::kInvalidArgument, message);
}

TEST(GenWorkloadModelTest, KnowsAicbsModels) {
  for (const auto& [aicb, name] :
       {std::pair{"7", "gpt-7b"}, std::pair{"13", "gpt-13b"},
        std::pair{"22", "gpt-22b"}, std::pair{"65", "llama-65b"},
        std::pair{"175", "gpt-175b"}, std::pair{"405", "llama3-405b"},
        std::pair{"moe", "mixtral-8x7b"},
        std::pair{"deepseek16", "deepseek-v2-lite"},
        std::pair{"deepseek236", "deepseek-v2"},
        std::pair{"deepseek671", "deepseek-v3"},
        std::pair{"deepseek-671B", "deepseek-v3"},
        std::pair{"qwen3-235B", "qwen3-moe-235b-a22b"},
        std::pair{"qwen3-next-80B", "qwen3-next-80b-a3b"},
        std::pair{"Mixtral_8*7B", "mixtral-8x7b"}}) {
    EXPECT_EQ(ModelOf(fmt::format("-m {}", aicb)).name, name);
  }
}

// What AICB takes where nothing is said.
TEST(GenWorkloadModelTest, MakesAicbsGptFromItsSizes) {
  const std::string sizes =
      "--num_layers 36 --hidden_size 4096 --num_attention_heads 32";
  const ModelSpec model = ModelOf(sizes);
  EXPECT_EQ(model.layers, 36);
  EXPECT_EQ(model.hidden, 4096);
  EXPECT_EQ(model.vocabulary, 32'000);
  EXPECT_EQ(model.positions, Positions::kLearned);
  EXPECT_EQ(model.max_positions, 4096);
  ASSERT_TRUE(std::holds_alternative<FullAttention>(model.attention));
  EXPECT_EQ(std::get<FullAttention>(model.attention).heads, 32);
  EXPECT_EQ(std::get<FullAttention>(model.attention).kv_heads, 32);
  EXPECT_EQ(std::get<FullAttention>(model.attention).head_dim, 128);
  EXPECT_FALSE(std::get<FullAttention>(model.attention).qkv_bias);
  EXPECT_EQ(model.feed_forward.ffn, 16'384);
  EXPECT_FALSE(model.feed_forward.gated);
  EXPECT_FALSE(model.experts);

  // 2/3 of 4 x 4096, down to a multiple of 64: 10922.7 -> 10880.
  for (const char* flag : {"--swiglu", "--gated_linear_unit"}) {
    const ModelSpec gated = ModelOf(fmt::format("{} {}", sizes, flag));
    EXPECT_TRUE(gated.feed_forward.gated);
    EXPECT_EQ(gated.feed_forward.ffn, 10'880);
  }
  EXPECT_EQ(ModelOf(sizes + " --swiglu --ffn_hidden_size 100").feed_forward.ffn,
            100);
  EXPECT_TRUE(ModelOf(sizes + " --add_bias_linear").feed_forward.bias);
  EXPECT_TRUE(
      std::get<FullAttention>(ModelOf(sizes + " --add_bias_linear").attention)
          .output_bias);

  const ModelSpec moe =
      ModelOf(sizes + " --moe_enable --num_experts 8 --moe_router_topk 2");
  ASSERT_TRUE(moe.experts);
  EXPECT_EQ(moe.experts->experts, 8);
  EXPECT_EQ(moe.experts->top_k, 2);
  EXPECT_EQ(moe.experts->ffn, 16'384);
  EXPECT_EQ(moe.feed_forward.ffn, 0);
}

TEST(GenWorkloadModelTest, ChangesABundledModel) {
  const ModelSpec model = ModelOf(
      "-m llama3-8b --num-layers 3 --hidden-size 2048 --num-attention-heads 16 "
      "--num-query-groups 4 --ffn-hidden-size 5000 --vocab-size 999 "
      "--max-position-embeddings 77 --model-name mine");
  EXPECT_EQ(model.name, "mine");
  EXPECT_EQ(model.layers, 3);
  EXPECT_EQ(std::get<FullAttention>(model.attention).head_dim, 128);
  EXPECT_EQ(std::get<FullAttention>(model.attention).kv_heads, 4);
  EXPECT_EQ(model.feed_forward.ffn, 5000);
  EXPECT_EQ(model.vocabulary, 999);
  EXPECT_EQ(model.max_positions, 77);
  // Nobody has published this one.
  EXPECT_FALSE(model.published_parameters);
  EXPECT_TRUE(ModelOf("-m llama3-8b --num-layers 32").published_parameters);

  const ModelSpec moe = ModelOf(
      "-m deepseek-v3 --num-experts 64 --topk 4 --moe-ffn-hidden-size 1000 "
      "--n_shared_expert 2 --n_dense_layer 0");
  EXPECT_EQ(moe.experts->experts, 64);
  EXPECT_EQ(moe.experts->top_k, 4);
  EXPECT_EQ(moe.experts->ffn, 1000);
  EXPECT_EQ(moe.experts->shared_ffn, 2000);
  EXPECT_EQ(moe.experts->dense_layers, 0);
}

TEST(GenWorkloadModelTest, GroupsOfExpertsBelongToTheRouterOfTheModel) {
  using Groups = std::pair<int64_t, int64_t>;
  const auto groups_of = [](const std::string& options) {
    const Experts experts = *ModelOf("-m deepseek-v3 " + options).experts;
    return Groups(experts.groups, experts.top_groups);
  };
  EXPECT_EQ(groups_of(""), Groups(8, 4));
  EXPECT_EQ(groups_of("--num-experts 256 --topk 8"), Groups(8, 4));
  EXPECT_EQ(groups_of("--moe-ffn-hidden-size 1000"), Groups(8, 4));
  EXPECT_EQ(groups_of("--num-experts 100"), Groups(1, 1));
  EXPECT_EQ(groups_of("--topk 2"), Groups(1, 1));
}

// AICB's defaults of latent attention, and its names of what changes them.
TEST(GenWorkloadModelTest, MakesAicbsDeepSeekFromItsSizes) {
  const std::string sizes =
      "--frame=DeepSeek --num_layers=61 --hidden_size=7168 "
      "--num_attention_heads=128 --ffn_hidden_size=2048 --num_experts=256 "
      "--moe_router_topk=8 ";
  const ModelSpec model = ModelOf(sizes);
  EXPECT_FALSE(std::holds_alternative<FullAttention>(model.attention));
  EXPECT_EQ(std::get<LatentAttention>(model.attention),
            (LatentAttention{.heads = 128,
                             .q_lora_rank = 1536,
                             .kv_lora_rank = 512,
                             .nope_head_dim = 128,
                             .rope_head_dim = 64,
                             .v_head_dim = 128}));
  EXPECT_EQ(model.experts, (Experts{.experts = 256,
                                    .top_k = 8,
                                    .ffn = 2048,
                                    .shared_ffn = 4096,
                                    .dense_layers = 3}));
  EXPECT_EQ(model.feed_forward.ffn, 2048);
  const ModelSpec other =
      ModelOf(sizes +
              "--q_lora_rank=0 --kv_lora_rank=1 --qk_nope_dim=2 "
              "--qk_rope_dim=4 --v_head_dim=5 --n_dense_layers=1 "
              "--n_shared_expert=1");
  EXPECT_EQ(std::get<LatentAttention>(other.attention),
            (LatentAttention{.heads = 128,
                             .q_lora_rank = 0,
                             .kv_lora_rank = 1,
                             .nope_head_dim = 2,
                             .rope_head_dim = 4,
                             .v_head_dim = 5}));
  // AICB's scripts say the framework in -m, and have sizes of their own.
  const ModelSpec script =
      ModelOf("-m deepseek --frame DeepSeek --num_experts 4 --num_layers 10");
  EXPECT_EQ(script.layers, 10);
  EXPECT_EQ(script.hidden, 5120);
  EXPECT_EQ(std::get<LatentAttention>(script.attention).heads, 40);
  EXPECT_EQ(script.experts->experts, 4);
  EXPECT_EQ(other.experts->dense_layers, 1);
  EXPECT_EQ(other.experts->shared_ffn, 2048);
}

TEST(GenWorkloadModelTest, TakesTheOperandsOfAicbsInference) {
  for (const auto& [typed, bundled] :
       {std::pair{"DeepSeek-671B", "deepseek-v3"},
        std::pair{"Qwen3-Moe-235B", "qwen3-moe-235b-a22b"},
        std::pair{"Qwen3-Next-80B", "qwen3-next-80b-a3b"}}) {
    ModelSpec expected = ModelOf(fmt::format("-m {}", bundled));
    expected.name = typed;
    EXPECT_EQ(ModelOf(typed), expected);
  }
  EXPECT_EQ(ModelOf("llama3-8b --num-layers 3").layers, 3);
}

// Heads of Qwen3-32B are 128 wide, not 5120 / 64.
TEST(GenWorkloadModelTest, OtherKeyHeadsDoNotChangeTheirWidth) {
  EXPECT_EQ(std::get<FullAttention>(
                ModelOf("-m qwen3-32b --num-query-groups 4").attention)
                .head_dim,
            128);
}

TEST(GenWorkloadModelTest, RefusesModelsThatCannotBe) {
  for (const auto& [arguments, message] :
       {std::pair{"--num-layers 2 --hidden-size 64",
                  "--model is missing: give a name or a file, or --num-layers, "
                  "--hidden-size and --num-attention-heads"},
        std::pair{"-m llama3-8b --num-attention-heads 3",
                  "--num-attention-heads 3 does not divide the hidden size "
                  "4096"},
        std::pair{"-m deepseek-v3 --num-query-groups 8",
                  "--num-query-groups has no effect: deepseek-v3 has latent "
                  "attention"},
        std::pair{"-m llama3-8b --q-lora-rank 8",
                  "--q-lora-rank has no effect: llama3-8b has no latent "
                  "attention"},
        std::pair{"Qwen3-Moe -m llama3-8b",
                  "unexpected argument \"Qwen3-Moe\": --model names the "
                  "model"},
        std::pair{"-m llama3-8b --num-experts 8",
                  "--num-experts has no effect: llama3-8b has no experts"},
        std::pair{"-m llama3-8b --topk 2",
                  "--moe-router-topk has no effect: llama3-8b has no experts"},
        std::pair{"-m llama3-8b --moe-enable",
                  "--moe-enable: llama3-8b has no experts"}}) {
    EXPECT_THAT(TryModel(arguments), Says(message));
  }
}

}  // namespace
}  // namespace astra
