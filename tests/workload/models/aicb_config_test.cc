#include "workload/models/aicb_config.h"

#include <string>
#include <string_view>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "workload/models/model_library.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::ValueOrDie;
using ::astra::testing::WriteText;
using ::testing::ElementsAre;

class AicbConfigTest : public ::testing::Test {
 protected:
  absl::StatusOr<ModelSpec> Read(std::string_view contents,
                                 const std::string& base) {
    WriteText(path_, contents);
    return ReadAicbConfig(path_, ValueOrDie(FindModel(base, &warnings_)),
                          &warnings_);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.PathOf("c.json");
  Warnings warnings_;
};

// Every key says something else than deepseek-v3, whose width of the dense
// blocks and vocabulary stay.
TEST_F(AicbConfigTest, ChangesTheModelThatIsNamed) {
  const ModelSpec model = ValueOrDie(Read(
      R"({"num_layers": 5, "dense_layer": 1, "hidden_size": 64, "d_kv_c": 8,
          "d_q_c": 9, "d_r": 10, "head_num": 4, "d_q": 12, "d_kv": 14,
          "router_expert": 16, "duped_expert": 2, "num_experts": 18,
          "shared_experts": 3, "moe_router_topk": 6, "expert_dim": 20,
          "computation_enable": true})",
      "deepseek-v3"));
  EXPECT_EQ(model.layers, 5);
  EXPECT_EQ(model.hidden, 64);
  EXPECT_EQ(model.vocabulary, 129280);
  EXPECT_EQ(std::get<LatentAttention>(model.attention),
            (LatentAttention{.heads = 4,
                             .q_lora_rank = 9,
                             .kv_lora_rank = 8,
                             .nope_head_dim = 12,
                             .rope_head_dim = 10,
                             .v_head_dim = 14}));
  EXPECT_EQ(model.experts->experts, 18);
  EXPECT_EQ(model.experts->top_k, 6);
  EXPECT_EQ(model.experts->ffn, 20);
  EXPECT_EQ(model.experts->shared_ffn, 60);
  EXPECT_EQ(model.experts->dense_layers, 1);
  EXPECT_EQ(model.feed_forward.ffn, 18432);
  EXPECT_FALSE(model.published_parameters);
  EXPECT_THAT(warnings_, ElementsAre(path_ + ":5:33: \"computation_enable\" is "
                                             "left out"));
}

TEST_F(AicbConfigTest, RefusesWhatIsNoSize) {
  EXPECT_THAT(Read(R"({"d_kv_c": 8,
"hidden_size": -1})",
                   "deepseek-v3"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       path_ + ":2:16: hidden_size is \"-1\": expected a whole "
                               "number from 1 to 4294967296"));
  EXPECT_THAT(Read(R"({"d_kv_c": 8})", "llama3-8b"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       path_ + ": d_kv_c describes latent attention, which "
                               "llama3-8b does not have"));
}

// The files of Qwen are those of Hugging Face, with options beside.
TEST_F(AicbConfigTest, ReadsConfigsOfHuggingFace) {
  const ModelSpec model = ValueOrDie(Read(
      R"({"world_size": 32, "frame": "Qwen3-Moe", "model_type": "llama",
          "num_hidden_layers": 2, "hidden_size": 64, "vocab_size": 128,
          "intermediate_size": 96, "num_attention_heads": 4,
          "num_key_value_heads": 2, "max_position_embeddings": 64})",
      "llama3-8b"));
  EXPECT_EQ(model.layers, 2);
  EXPECT_THAT(warnings_,
              ElementsAre(path_ + ": world_size, frame of the file have no "
                                  "effect: they are options of the command "
                                  "line"));
}

}  // namespace
}  // namespace astra
