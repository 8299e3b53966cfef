#include "workload/models/model_spec.h"

#include <functional>
#include <string>
#include <variant>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;

// 4 blocks, of which the last has full attention; the first has no experts.
ModelSpec Hybrid() {
  ModelSpec model;
  model.name = "hybrid";
  model.layers = 4;
  model.hidden = 64;
  model.vocabulary = 100;
  model.attention = FullAttention{.heads = 4, .kv_heads = 2, .head_dim = 16};
  model.other_attention = LinearAttention{.key_heads = 2,
                                          .value_heads = 4,
                                          .key_head_dim = 16,
                                          .value_head_dim = 16,
                                          .conv_kernel = 4,
                                          .full_attention_every = 4};
  model.feed_forward.ffn = 256;
  model.experts = {.experts = 8, .top_k = 2, .ffn = 32, .dense_layers = 1};
  return model;
}

TEST(ModelSpecTest, KnowsWhatEachBlockHas) {
  const ModelSpec model = Hybrid();
  EXPECT_EQ(CheckModel(model), absl::OkStatus());
  EXPECT_FALSE(model.HasExperts(0));
  EXPECT_TRUE(model.HasExperts(1));
  EXPECT_TRUE(std::holds_alternative<LinearAttention>(model.AttentionOf(0)));
  EXPECT_TRUE(std::holds_alternative<LinearAttention>(model.AttentionOf(2)));
  EXPECT_EQ(model.AttentionOf(3), model.attention);
  EXPECT_FALSE(std::get<FullAttention>(model.attention).HasWindow(0));
}

TEST(ModelSpecTest, WindowsBeginWithTheFirstBlock) {
  ModelSpec model = Hybrid();
  std::get<FullAttention>(model.attention).window = 128;
  std::get<FullAttention>(model.attention).window_every = 2;
  EXPECT_EQ(CheckModel(model), absl::OkStatus());
  EXPECT_TRUE(std::get<FullAttention>(model.attention).HasWindow(0));
  EXPECT_FALSE(std::get<FullAttention>(model.attention).HasWindow(1));
  EXPECT_TRUE(std::get<FullAttention>(model.attention).HasWindow(2));
}

struct BadModel {
  std::function<void(ModelSpec&)> spoil;
  std::string message;
};

class BadModelTest : public ::testing::TestWithParam<BadModel> {};

TEST_P(BadModelTest, IsRefused) {
  ModelSpec model = Hybrid();
  GetParam().spoil(model);
  EXPECT_THAT(CheckModel(model),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadModelTest,
    ::testing::Values(
        BadModel{[](ModelSpec& m) { m.name = ""; },
                 "name is \"\": expected text without control characters"},
        BadModel{[](ModelSpec& m) { m.sources = {"a\nb"}; },
                 "source is \"a\\x0ab\": expected text without control "
                 "characters"},
        BadModel{[](ModelSpec& m) { m.layers = 0; },
                 "layers is 0: expected 1 to 1000"},
        BadModel{[](ModelSpec& m) { m.hidden = 1 << 20; },
                 "hidden is 1048576: expected 1 to 131072"},
        BadModel{[](ModelSpec& m) { m.positions = Positions::kLearned; },
                 "max_positions is 0: expected 1 to 1073741824"},
        BadModel{[](ModelSpec& m) { m.norm_bias = true; },
                 "norm_bias is true: an RMS norm has no bias"},
        BadModel{[](ModelSpec& m) {
                   std::get<FullAttention>(m.attention).kv_heads = 3;
                 },
                 "attention.kv_heads is 3: expected a divisor of the 4 heads"},
        BadModel{[](ModelSpec& m) {
                   std::get<FullAttention>(m.attention).window = 128;
                 },
                 "attention.window is 128: expected both window and "
                 "window_every, which is 0, or neither"},
        BadModel{[](ModelSpec& m) {
                   m.attention = LatentAttention{.heads = 4,
                                                 .q_lora_rank = -1,
                                                 .kv_lora_rank = 8,
                                                 .nope_head_dim = 8,
                                                 .rope_head_dim = 8,
                                                 .v_head_dim = 8};
                 },
                 "attention.q_lora_rank is -1: expected 0 to 131072"},
        BadModel{[](ModelSpec& m) {
                   m.attention = LatentAttention{.heads = 4,
                                                 .kv_lora_rank = 8,
                                                 .nope_head_dim = 8,
                                                 .rope_head_dim = 8,
                                                 .v_head_dim = 8};
                 },
                 "linear_attention is there: expected it beside full attention "
                 "only"},
        BadModel{[](ModelSpec& m) {
                   std::get<LinearAttention>(*m.other_attention).value_heads =
                       3;
                 },
                 "linear_attention.value_heads is 3: expected a multiple of "
                 "the 2 key heads"},
        BadModel{
            [](ModelSpec& m) {
              std::get<LinearAttention>(*m.other_attention)
                  .full_attention_every = 1;
            },
            "linear_attention.full_attention_every is 1: expected 2 to 1000"},
        BadModel{[](ModelSpec& m) { m.experts->dense_layers = 4; },
                 "experts.dense_layers is 4: expected 0 to 3"},
        BadModel{[](ModelSpec& m) { m.experts->top_k = 9; },
                 "experts.top_k is 9: expected no more than the 8 experts"},
        BadModel{[](ModelSpec& m) { m.experts->groups = 3; },
                 "experts.groups is 3: expected a divisor of the 8 experts"},
        BadModel{[](ModelSpec& m) { m.experts->top_groups = 2; },
                 "experts.top_groups is 2: expected 1 to the 1 groups"},
        BadModel{[](ModelSpec& m) { m.experts->groups = 8; },
                 "experts.top_k is 2: expected no more than the 1 experts of 1 "
                 "of the 8 groups"},
        BadModel{[](ModelSpec& m) { m.experts->shared_gate = true; },
                 "experts.shared_gate is true: expected it with shared_ffn "
                 "only"},
        BadModel{[](ModelSpec& m) { m.experts->dense_layers = 0; },
                 "feed_forward.ffn is 256: expected 0, as every block has "
                 "experts"},
        BadModel{[](ModelSpec& m) { m.feed_forward.ffn = 0; },
                 "feed_forward.ffn is 0: expected 1 to 1048576"}));

}  // namespace
}  // namespace astra
