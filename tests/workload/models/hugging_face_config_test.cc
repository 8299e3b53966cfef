#include "workload/models/hugging_face_config.h"

#include <cstdint>
#include <string>
#include <utility>

#include "tests/testing/bad_input.h"
#include "tests/testing/matchers.h"
#include "workload/models/model_library.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ModelSpec Parse(std::string_view contents, Warnings* warnings) {
  return ValueOrDie(ParseHuggingFaceConfig("c", contents, warnings));
}

ModelSpec Parse(std::string_view contents) {
  Warnings warnings;
  const ModelSpec model = Parse(contents, &warnings);
  EXPECT_THAT(warnings, IsEmpty());
  return model;
}

// The shape of a bundled model, under the name of its model_type.
ModelSpec Bundled(std::string_view name, std::string_view model_type) {
  Warnings warnings;
  ModelSpec model = ValueOrDie(FindModel(name, &warnings));
  model.name = model_type;
  model.aliases.clear();
  model.sources.clear();
  model.published_parameters.reset();
  return model;
}

TEST(HuggingFaceConfigTest, DeepSeekV3IsTheBundledModel) {
  constexpr std::string_view kConfig = R"({
    "model_type": "deepseek_v3", "num_hidden_layers": 61, "hidden_size": 7168,
    "vocab_size": 129280, "max_position_embeddings": 163840,
    "tie_word_embeddings": false, "attention_bias": false,
    "num_attention_heads": 128, "num_key_value_heads": 128,
    "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 18432,
    "n_routed_experts": 256, "num_experts_per_tok": 8, "n_group": 8,
    "topk_group": 4, "topk_method": "noaux_tc",
    "moe_intermediate_size": 2048, "n_shared_experts": 1,
    "first_k_dense_replace": 3, "moe_layer_freq": 1,
    "num_nextn_predict_layers": 1, "rope_scaling": {"type": "yarn"},
    "quantization_config": {"weight_block_size": [128, 128]}})";
  Warnings warnings;
  EXPECT_EQ(Parse(kConfig, &warnings), Bundled("deepseek-v3", "deepseek_v3"));
  EXPECT_THAT(
      warnings,
      ElementsAre("c:12:33: num_nextn_predict_layers is 1: layers that "
                  "predict further tokens are trained with --mtp-num-layers 1 "
                  "only"));
}

TEST(HuggingFaceConfigTest, Qwen3IsTheBundledModel) {
  constexpr std::string_view kConfig = R"({
    "model_type": "qwen3", "num_hidden_layers": 36, "hidden_size": 4096,
    "vocab_size": 151936, "max_position_embeddings": 40960,
    "attention_bias": false, "head_dim": 128, "num_attention_heads": 32,
    "num_key_value_heads": 8, "intermediate_size": 12288,
    "use_sliding_window": false, "sliding_window": null})";
  EXPECT_EQ(Parse(kConfig), Bundled("qwen3-8b", "qwen3"));
}

TEST(HuggingFaceConfigTest, Qwen3MoeIsTheBundledModel) {
  constexpr std::string_view kConfig = R"({
    "model_type": "qwen3_moe", "num_hidden_layers": 94, "hidden_size": 4096,
    "vocab_size": 151936, "max_position_embeddings": 40960,
    "head_dim": 128, "num_attention_heads": 64, "num_key_value_heads": 4,
    "intermediate_size": 12288, "moe_intermediate_size": 1536,
    "num_experts": 128, "num_experts_per_tok": 8, "decoder_sparse_step": 1,
    "mlp_only_layers": []})";
  EXPECT_EQ(Parse(kConfig), Bundled("qwen3-moe-235b-a22b", "qwen3_moe"));
}

TEST(HuggingFaceConfigTest, Qwen3NextIsTheBundledModel) {
  constexpr std::string_view kConfig = R"({
    "model_type": "qwen3_next", "num_hidden_layers": 48, "hidden_size": 2048,
    "vocab_size": 151936, "max_position_embeddings": 262144,
    "head_dim": 256, "num_attention_heads": 16, "num_key_value_heads": 2,
    "full_attention_interval": 4, "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128, "linear_num_key_heads": 16,
    "linear_num_value_heads": 32, "linear_value_head_dim": 128,
    "intermediate_size": 5120, "moe_intermediate_size": 512,
    "num_experts": 512, "num_experts_per_tok": 10,
    "shared_expert_intermediate_size": 512})";
  EXPECT_EQ(Parse(kConfig), Bundled("qwen3-next-80b-a3b", "qwen3_next"));
}

// 36 layers by turns with and without a window.
TEST(HuggingFaceConfigTest, GptOssIsTheBundledModel) {
  std::string types = "\"sliding_attention\", \"full_attention\"";
  for (int i = 1; i < 18; ++i) {
    types += ", \"sliding_attention\", \"full_attention\"";
  }
  const std::string config =
      R"({"model_type": "gpt_oss", "num_hidden_layers": 36,
    "hidden_size": 2880, "vocab_size": 201088,
    "max_position_embeddings": 131072, "head_dim": 64,
    "num_attention_heads": 64, "num_key_value_heads": 8,
    "attention_bias": true, "sliding_window": 128, "num_local_experts": 128,
    "num_experts_per_tok": 4, "intermediate_size": 2880, "layer_types": [)" +
      types + "]}";
  EXPECT_EQ(Parse(config), Bundled("gpt-oss-120b", "gpt_oss"));
}

TEST(HuggingFaceConfigTest, LlamaFollowsItsNameAndFlags) {
  const ModelSpec model = Parse(
      R"({"model_type": "llama", "_name_or_path": "me/mine",
          "num_hidden_layers": 2, "hidden_size": 64, "vocab_size": 100,
          "num_attention_heads": 4, "intermediate_size": 256,
          "attention_bias": true, "mlp_bias": true,
          "tie_word_embeddings": true, "rope_theta": 1e4})");
  ModelSpec expected;
  expected.name = "me/mine";
  expected.layers = 2;
  expected.hidden = 64;
  expected.vocabulary = 100;
  expected.tied_embeddings = true;
  expected.attention = FullAttention{.heads = 4,
                                     .kv_heads = 4,
                                     .head_dim = 16,
                                     .qkv_bias = true,
                                     .output_bias = true};
  expected.feed_forward = {.ffn = 256, .gated = true, .bias = true};
  EXPECT_EQ(model, expected);
}

// The fields that all types share, and `more`.
std::string Small(std::string_view type, std::string_view more) {
  return fmt::format(
      "{{\"model_type\": \"{}\", \"num_hidden_layers\": 2, "
      "\"hidden_size\": 64, \"vocab_size\": 100,\n"
      "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, "
      "\"intermediate_size\": 256,\n{}}}",
      type, more);
}

std::string SmallDeepSeek(std::string_view more) {
  return Small(
      "deepseek_v2",
      fmt::format("\"q_lora_rank\": null, \"kv_lora_rank\": 16, "
                  "\"qk_nope_head_dim\": 8, \"qk_rope_head_dim\": 4, "
                  "\"v_head_dim\": 8, \"num_routed_experts\": 8, "
                  "\"num_experts_per_tok\": 2, \"num_shared_experts\": 2, "
                  "\"moe_intermediate_size\": 32, "
                  "\"first_k_dense_replace\": 1{}",
                  more));
}

TEST(HuggingFaceConfigTest, ReadsGroupsOfExperts) {
  using Groups = std::pair<int64_t, int64_t>;
  const auto groups_of = [](std::string_view more) {
    const Experts experts = *Parse(SmallDeepSeek(more)).experts;
    return Groups(experts.groups, experts.top_groups);
  };
  EXPECT_EQ(groups_of(""), Groups(1, 1));
  EXPECT_EQ(groups_of(", \"n_group\": null, \"topk_group\": null"),
            Groups(1, 1));
  const std::string groups = ", \"n_group\": 4, \"topk_group\": 2";
  EXPECT_EQ(groups_of(groups), Groups(4, 2));
  EXPECT_EQ(groups_of(groups + ", \"topk_method\": \"group_limited_greedy\""),
            Groups(4, 2));
  // Picks among all experts.
  EXPECT_EQ(groups_of(groups + ", \"topk_method\": \"greedy\""), Groups(1, 1));
}

TEST(HuggingFaceConfigTest, OtherTypesHaveTheirOwnRules) {
  const ModelSpec qwen2 = Parse(Small("qwen2", ""));
  EXPECT_TRUE(std::get<FullAttention>(qwen2.attention).qkv_bias);
  const ModelSpec mistral = Parse(Small("mistral", "\"sliding_window\": 4096"));
  EXPECT_EQ(std::get<FullAttention>(mistral.attention).window, 4096);
  EXPECT_TRUE(std::get<FullAttention>(mistral.attention).HasWindow(1));
  const ModelSpec mixtral =
      Parse(Small("mixtral",
                  "\"num_local_experts\": 8, \"num_experts_per_tok\": 2, "
                  "\"sliding_window\": null"));
  EXPECT_EQ(mixtral.feed_forward.ffn, 0);
  EXPECT_EQ(mixtral.experts->ffn, 256);
  const ModelSpec deepseek = Parse(SmallDeepSeek(""));
  EXPECT_EQ(std::get<LatentAttention>(deepseek.attention).q_lora_rank, 0);
  EXPECT_EQ(deepseek.experts->shared_ffn, 64);
  EXPECT_FALSE(deepseek.experts->router_bias);
  const ModelSpec qwen =
      Parse(Small("qwen3_moe",
                  "\"head_dim\": 16, \"num_experts\": 8, "
                  "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 32, "
                  "\"mlp_only_layers\": [0]"));
  EXPECT_EQ(qwen.experts->dense_layers, 1);
  EXPECT_EQ(qwen.feed_forward.ffn, 256);
}

TEST(HuggingFaceConfigTest, WarnsOfKeysItDoesNotUnderstand) {
  Warnings warnings;
  Parse(Small("llama", "\"mixing\": 3, \"sliding_window\": 8"), &warnings);
  EXPECT_THAT(
      warnings,
      ElementsAre("c:3:11: \"mixing\" is not understood and left out",
                  "c:3:32: \"sliding_window\" is not understood and left "
                  "out"));
}

class BadConfigTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadConfigTest, SaysWhatAndWhere) {
  Warnings warnings;
  EXPECT_THAT(ParseHuggingFaceConfig("c", GetParam().contents, &warnings),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadConfigTest,
    ::testing::Values(
        BadInput{"NotJson", "{\"model_type\": ",
                 "c:1:1: not YAML: end of map flow not found"},
        BadInput{"List", "[]",
                 "c:1:1: the configuration is a list, expected a mapping"},
        BadInput{"NoType", "{}",
                 "c:1:1: the configuration has no \"model_type\""},
        BadInput{"Type", "{\"model_type\": \"lama\"}",
                 "c:1:16: unknown model_type \"lama\"; did you mean "
                 "\"llama\"? (known: llama, mistral, mixtral, qwen2, qwen3, "
                 "qwen3_moe, qwen3_next, deepseek_v2, deepseek_v3, gpt_oss)"},
        BadInput{"NoLayers", "{\"model_type\": \"llama\"}",
                 "c:1:1: the configuration has no \"num_hidden_layers\""},
        BadInput{"Layers",
                 "{\"model_type\": \"llama\", \"num_hidden_layers\": [2]}",
                 "c:1:46: num_hidden_layers is a list, expected one value"},
        BadInput{"Null",
                 "{\"model_type\": \"llama\", \"num_hidden_layers\": null}",
                 "c:1:46: num_hidden_layers is nothing, expected one value"},
        BadInput{"Fraction", Small("llama", "\"head_dim\": 16.0"),
                 "c:3:13: head_dim is \"16.0\": expected a whole number of at "
                 "least 0"},
        BadInput{"Flag", Small("llama", "\"attention_bias\": 1"),
                 "c:3:19: attention_bias is \"1\": expected true or false"},
        BadInput{"Heads", Small("llama", "\"hidden_siz\": 6, \"head_dim\": 0"),
                 "c:1:1: attention.head_dim is 0: expected 1 to 4096"},
        BadInput{"HeadWidth",
                 "{\"model_type\": \"llama\", \"num_hidden_layers\": 2, "
                 "\"vocab_size\": 9, \"hidden_size\": 65, "
                 "\"num_attention_heads\": 4}",
                 "c:1:81: without head_dim, hidden_size must be a multiple of "
                 "num_attention_heads"},
        BadInput{
            "Window",
            Small("qwen3", "\"head_dim\": 16, \"use_sliding_window\": true"),
            "c:3:39: use_sliding_window is \"true\": only false can be "
            "described"},
        BadInput{"NoWindow", Small("mistral", "\"head_dim\": 16"),
                 "c:1:1: the configuration has no \"sliding_window\""},
        BadInput{"SparseStep",
                 Small("qwen3_moe",
                       "\"head_dim\": 16, \"num_experts\": 8, "
                       "\"num_experts_per_tok\": 2, "
                       "\"moe_intermediate_size\": 32,\n"
                       "\"decoder_sparse_step\": 2"),
                 "c:4:24: decoder_sparse_step is \"2\": only 1 can be "
                 "described"},
        BadInput{"DenseLayers",
                 Small("qwen3_moe",
                       "\"head_dim\": 16, \"num_experts\": 8, "
                       "\"num_experts_per_tok\": 2, "
                       "\"moe_intermediate_size\": 32,\n"
                       "\"mlp_only_layers\": [1]"),
                 "c:4:20: mlp_only_layers holds \"1\": only the first layers, "
                 "in order, can be described"},
        BadInput{
            "LayerTypes",
            Small("llama", "\"layer_types\": [\"full_attention\", \"linear\"]"),
            "c:3:16: layer_types says \"linear\" of layer 1: only "
            "\"full_attention\" can be described there"},
        BadInput{"FewLayerTypes",
                 Small("llama", "\"layer_types\": [\"full_attention\"]"),
                 "c:3:16: layer_types has 1 items: expected 2"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace astra
