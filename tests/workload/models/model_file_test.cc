#include "workload/models/model_file.h"

#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tests/testing/bad_input.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::astra::testing::WithLine;

constexpr std::string_view kFile =
    "name: tiny\n"
    "source: a page\n"
    "layers: 2\n"
    "hidden: 64\n"
    "vocabulary: 100\n"
    "attention: {kind: full, heads: 4, kv_heads: 2, head_dim: 16}\n"
    "feed_forward: {ffn: 256}\n";

std::string KindList() {
  std::vector<std::string_view> names;
  for (const AnyAttention& attention : AttentionKinds(/*beside=*/false)) {
    std::visit([&](const auto& kind) { names.push_back(kind.kName); },
               attention);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// The keys of a model, sorted.
std::string KeyList() {
  std::set<std::string> keys = {
      "aliases",    "attention",       "dropout",
      "experts",    "feed_forward",    "hidden",
      "layers",     "max_positions",   "name",
      "norm",       "norm_bias",       "no_published_count",
      "positions",  "source",          "published_parameters",
      "vocabulary", "tied_embeddings",
  };
  for (const AnyAttention& kind : AttentionKinds(/*beside=*/true)) {
    keys.insert(SectionOf(kind));
  }
  return fmt::format("{}", fmt::join(keys, ", "));
}

ModelSpec Tiny() {
  ModelSpec model;
  model.name = "tiny";
  model.sources = {"a page"};
  model.layers = 2;
  model.hidden = 64;
  model.vocabulary = 100;
  model.attention = FullAttention{.heads = 4, .kv_heads = 2, .head_dim = 16};
  model.feed_forward.ffn = 256;
  return model;
}

// Has a value that is not the default in every field that it can.
ModelSpec Full() {
  ModelSpec model = Tiny();
  model.aliases = {"a \"b\" \\ c", "null"};
  model.sources = {"one, two", "#3: [\xc3\xa9]"};
  model.published_parameters = 12345;
  model.positions = Positions::kAlibi;
  model.max_positions = 2048;
  model.tied_embeddings = true;
  model.norm = Norm::kLayer;
  model.norm_bias = true;
  model.dropout = true;
  model.attention = FullAttention{.heads = 4,
                                  .kv_heads = 2,
                                  .head_dim = 16,
                                  .qkv_bias = true,
                                  .output_bias = true,
                                  .qk_norm = true,
                                  .output_gate = true,
                                  .sinks = true,
                                  .window = 128,
                                  .window_every = 2};
  model.other_attention = LinearAttention{.key_heads = 2,
                                          .value_heads = 4,
                                          .key_head_dim = 8,
                                          .value_head_dim = 16,
                                          .conv_kernel = 3,
                                          .full_attention_every = 2};
  model.feed_forward = {.ffn = 256, .gated = true, .bias = true};
  model.experts = {.experts = 8,
                   .top_k = 2,
                   .ffn = 32,
                   .shared_ffn = 48,
                   .shared_gate = true,
                   .router_bias = true,
                   .expert_bias = true,
                   .dense_layers = 1,
                   .groups = 4,
                   .top_groups = 2};
  return model;
}

TEST(ModelFileTest, WhatMayBeLeftOutIsAtItsDefault) {
  EXPECT_EQ(ValueOrDie(ParseModel("m", kFile)), Tiny());
}

TEST(ModelFileTest, WritesWhatIsNotADefault) {
  EXPECT_EQ(FormatModel(Full()),
            "name: \"tiny\"\n"
            "aliases: [\"a \\\"b\\\" \\\\ c\", \"null\"]\n"
            "source: [\"one, two\", \"#3: [\xc3\xa9]\"]\n"
            "published_parameters: 12345\n"
            "layers: 2\n"
            "hidden: 64\n"
            "vocabulary: 100\n"
            "positions: alibi\n"
            "max_positions: 2048\n"
            "tied_embeddings: true\n"
            "norm: layer\n"
            "norm_bias: true\n"
            "dropout: true\n"
            "attention: {kind: full, heads: 4, kv_heads: 2, head_dim: 16, "
            "qkv_bias: true, output_bias: true, qk_norm: true, "
            "output_gate: true, sinks: true, window: 128, window_every: 2}\n"
            "linear_attention: {key_heads: 2, value_heads: 4, "
            "key_head_dim: 8, value_head_dim: 16, conv_kernel: 3, "
            "full_attention_every: 2}\n"
            "feed_forward: {ffn: 256, gated: true, bias: true}\n"
            "experts: {experts: 8, top_k: 2, ffn: 32, shared_ffn: 48, "
            "shared_gate: true, router_bias: true, expert_bias: true, "
            "dense_layers: 1, groups: 4, top_groups: 2}\n");
}

TEST(ModelFileTest, ReadsWhatItWrites) {
  ModelSpec latent = Tiny();
  latent.attention = LatentAttention{.heads = 4,
                                     .q_lora_rank = 32,
                                     .kv_lora_rank = 16,
                                     .nope_head_dim = 8,
                                     .rope_head_dim = 4,
                                     .v_head_dim = 12};
  for (const ModelSpec& model : {Tiny(), Full(), latent}) {
    EXPECT_EQ(ValueOrDie(ParseModel("m", FormatModel(model))), model);
  }
}

TEST(ModelFileTest, AReasonMayStandForACount) {
  const std::string file = std::string(kFile) + "no_published_count: secret\n";
  EXPECT_EQ(ValueOrDie(ParseModel("m", file)), Tiny());
}

class BadModelFileTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadModelFileTest, SaysWhatAndWhere) {
  EXPECT_THAT(ParseModel("m", GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadModelFileTest,
    ::testing::Values(
        BadInput{"Empty", "",
                 "m:1:1: the model is nothing, expected a mapping"},
        BadInput{"NoName", WithLine(kFile, 1, ""),
                 "m:2:1: the model has no \"name\""},
        BadInput{"NoLayers", WithLine(kFile, 3, ""),
                 "m:1:1: the model has no \"layers\""},
        BadInput{
            "Layers", WithLine(kFile, 3, "layers: 2.5"),
            "m:3:9: layers is \"2.5\": expected a whole number of at least 0"},
        BadInput{"NoAttention", WithLine(kFile, 6, ""),
                 "m:1:1: the model has no \"attention\""},
        BadInput{"Attention", WithLine(kFile, 6, "attention: full"),
                 "m:6:12: the attention is a value, expected a mapping"},
        BadInput{
            "Kind", WithLine(kFile, 6, "attention: {kind: ful}"),
            "m:6:19: unknown kind \"ful\"; did you mean \"full\"? (known: " +
                KindList() + ")"},
        BadInput{"NoHeads", WithLine(kFile, 6, "attention: {kind: latent}"),
                 "m:6:12: the attention has no \"heads\""},
        BadInput{"Positions", WithLine(kFile, 2, "positions: rope"),
                 "m:2:12: unknown positions \"rope\" (known: rotary, learned, "
                 "alibi)"},
        BadInput{"Flag", WithLine(kFile, 7, "feed_forward: {gated: yes}"),
                 "m:7:23: gated is \"yes\": expected true or false"},
        BadInput{"UnknownPart", WithLine(kFile, 7, "feed_forward: {fnn: 1}"),
                 "m:7:21: unknown field of the feed forward \"fnn\"; did you "
                 "mean \"ffn\"? (known: bias, ffn, gated)"},
        BadInput{"Unknown", WithLine(kFile, 2, "heads: 4"),
                 "m:2:8: unknown field of the model \"heads\" (known: " +
                     KeyList() + ")"},
        BadInput{"Experts", WithLine(kFile, 7, "experts: 8"),
                 "m:7:10: the mixture of experts is a value, expected a "
                 "mapping"},
        BadInput{"CountAndReason",
                 std::string(kFile) +
                     "published_parameters: 1\nno_published_count: none\n",
                 "m:9:21: expected no reason beside published_parameters"},
        BadInput{"SizeOfThePart", WithLine(kFile, 7, "feed_forward: {ffn: 0}"),
                 "m:7:21: feed_forward.ffn is 0: expected 1 to 1048576"},
        BadInput{"SizeOfTheModel", WithLine(kFile, 4, "hidden: 0"),
                 "m:4:9: hidden is 0: expected 1 to 131072"},
        BadInput{"NoFeedForward", WithLine(kFile, 7, ""),
                 "m:1:1: feed_forward.ffn is 0: expected 1 to 1048576"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace astra
