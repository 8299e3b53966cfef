#include "workload/frameworks/framework_file.h"

#include <string>
#include <string_view>

#include "fmt/core.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using enum absl::StatusCode;

constexpr std::string_view kHead = "name: f\nsource: s\n";

Framework Only(std::string_view keys) {
  return ValueOrDie(ParseFramework("f", fmt::format("{}{}", kHead, keys)))
      .at(0);
}

absl::Status ErrorOf(std::string_view keys) {
  return ParseFramework("f", fmt::format("{}{}", kHead, keys)).status();
}

TEST(FrameworkFileTest, WhatIsAbsentIsAsInTheHeader) {
  const Framework framework = Only("");
  EXPECT_EQ(framework.name, "f");
  EXPECT_EQ(framework.release, "");
  EXPECT_EQ(framework.zero, 1);
  EXPECT_EQ(framework.gradient_bytes, 4);
  EXPECT_EQ(framework.vocabulary_divisor, 128);
  EXPECT_EQ(framework.attention_speed, 1);
  EXPECT_FALSE(framework.overlaps.gradients);
}

TEST(FrameworkFileTest, ReadsEachFact) {
  const Framework framework = Only(
      "aliases: [g, h]\nlauncher: deepspeed\nzero: 3\nfixed_zero: "
      "true\ngrad_dtype: bf16\n"
      "vocabulary_divisor: 0\nfills_last_stages: true\n"
      "overlap: [gradients, parameters, tp, shared_experts]\n"
      "fp8_dispatch: true\nfused_loss: true\nloss_metrics: 2\n"
      "stops_recomputing: true\ncompiled: true\nattention_speed: 0.5\n"
      "expert_host_us: 450\nfused_experts: true\noptimizer_workspace: "
      "8\nweights_in_experts: true\n"
      "transformer_engine: 2.10\nrecompute_modules: [mlp]\n"
      "moment_dtype: bf16\nfp32_shards: true\nfp8_activation_inputs: true\n"
      "attention_output_bits: 12\nloss_workspace: 8\n");
  EXPECT_THAT(framework.aliases, ElementsAre("g", "h"));
  EXPECT_EQ(framework.launcher, Launcher::kDeepSpeed);
  EXPECT_EQ(framework.zero, 3);
  EXPECT_TRUE(framework.fixed_zero);
  EXPECT_EQ(framework.gradient_bytes, 2);
  EXPECT_EQ(framework.vocabulary_divisor, 0);
  EXPECT_TRUE(framework.fills_last_stages);
  EXPECT_TRUE(framework.overlaps.gradients);
  EXPECT_TRUE(framework.overlaps.parameters);
  EXPECT_TRUE(framework.overlaps.tensor);
  EXPECT_TRUE(framework.overlaps.shared_experts);
  EXPECT_TRUE(framework.fp8_dispatch);
  EXPECT_TRUE(framework.fused_loss);
  EXPECT_EQ(framework.loss_metrics, 2);
  EXPECT_EQ(framework.expert_host_ns, 450'000);
  EXPECT_TRUE(framework.fused_experts);
  EXPECT_TRUE(framework.stops_recomputing);
  EXPECT_TRUE(framework.compiled);
  EXPECT_EQ(framework.attention_speed, 0.5);
  EXPECT_EQ(framework.optimizer_workspace, 8);
  EXPECT_TRUE(framework.weights_in_experts);
  EXPECT_EQ(framework.transformer_engine, "2.10");
  EXPECT_EQ(framework.recompute_modules, RecomputeModule::kMlp);
  EXPECT_EQ(framework.moment_bytes, 2);
  EXPECT_TRUE(framework.fp32_shards);
  EXPECT_TRUE(framework.fp8_activation_inputs);
  EXPECT_EQ(framework.attention_output_bits, 12);
  EXPECT_EQ(framework.loss_workspace, 8);
}

TEST(FrameworkFileTest, AReleaseHasTheFactsOfTheOneBefore) {
  const std::vector<Framework> releases = ValueOrDie(ParseFramework(
      "f",
      "name: f\nsource: s\nzero: 2\noverlap: gradients\nreleases:\n"
      "- {since: 0.9, fused_loss: true}\n"
      "- {since: 0.14, source: t, overlap: [tp]}\n"));
  ASSERT_EQ(releases.size(), 2U);
  EXPECT_EQ(releases[0].release, "0.9");
  EXPECT_TRUE(releases[0].overlaps.gradients);
  EXPECT_TRUE(releases[1].fused_loss);
  EXPECT_FALSE(releases[1].overlaps.gradients);  // A list is replaced.
  EXPECT_TRUE(releases[1].overlaps.tensor);
  EXPECT_EQ(releases[1].zero, 2);
}

TEST(FrameworkFileTest, ABaseGivesWhatIsAbsent) {
  const Framework framework = Only("base: fsdp\nfused_loss: true\n");
  EXPECT_EQ(framework.name, "f");
  EXPECT_TRUE(framework.aliases.empty());
  EXPECT_EQ(framework.zero, 3);
  EXPECT_TRUE(framework.fused_loss);
}

TEST(FrameworkFileTest, ABaseMayHaveABaseAndARelease) {
  EXPECT_TRUE(Only("base: megatron-core\n").overlaps.tensor);
  EXPECT_FALSE(Only("base: megatron-bridge@0.1\n").fused_experts);
  EXPECT_TRUE(Only("base: megatron-bridge@0.5\n").fused_experts);
}

TEST(FrameworkFileTest, TheLoadOfAJobIsOptional) {
  EXPECT_FALSE(Only("zero: 1\n").load.has_value());
  const Framework framework = Only("load: 0.7\niteration_us: 50000\n");
  EXPECT_EQ(framework.load, 0.7);
  EXPECT_EQ(framework.iteration_host_ns, 50'000'000);
}

TEST(FrameworkFileTest, SaysWhatIsWrongAndWhere) {
  const auto is = [](const std::string& message) {
    return StatusIs(kInvalidArgument, message);
  };
  EXPECT_THAT(ErrorOf("zero: 4\n"),
              is("f:3:7: zero is \"4\": expected a whole number from 0 to 3"));
  EXPECT_THAT(ErrorOf("overlap: [tp, pp]\n"),
              is("f:3:10: unknown overlap \"pp\"; did you mean \"tp\"? (known: "
                 "gradients, parameters, tp, shared_experts)"));
  EXPECT_THAT(ErrorOf("recompute_modules: [layernorn]\n"),
              is("f:3:20: unknown module to recompute \"layernorn\"; did you "
                 "mean \"layernorm\"? (known: core_attn, layernorm, "
                 "mla_up_proj, mlp, moe, moe_act, shared_experts, op)"));
  EXPECT_THAT(ErrorOf("attention_output_bits: 4\n"),
              is("f:3:24: attention_output_bits is \"4\": expected a whole "
                 "number from 8 to 16"));
  EXPECT_THAT(ErrorOf("base: fsdq\n"),
              is("f:3:7: unknown framework \"fsdq\"; did you mean \"fsdp\"? "
                 "(known: deepseek, deepspeed, fsdp, hai-llm, internevo, "
                 "megatron, megatron-bridge, megatron-core, mosaicml, "
                 "torchtitan, torchtitan-compiled)"));
  EXPECT_THAT(ErrorOf("base: fsdp@2\n"),
              is("f:3:7: fsdp@2: no releases of fsdp are told apart"));
  EXPECT_THAT(ErrorOf("load: 1.5\n"),
              is("f:3:7: load is \"1.5\": expected a number from 0.01 to 1"));
  EXPECT_THAT(ErrorOf("transformer_engine: new\n"),
              is("f:3:21: transformer_engine is \"new\": expected a release "
                 "such as 2.11"));
  EXPECT_THAT(ErrorOf("releases: [{since: 2}, {since: 1.9}]\n"),
              is("f:3:32: since is \"1.9\": expected a release such as 1.2, "
                 "later than the one before"));
  EXPECT_THAT(ErrorOf("releases: [{since: new}]\n"),
              is("f:3:20: since is \"new\": expected a release such as 1.2, "
                 "later than the one before"));
}

TEST(FrameworkFileTest, BundledOnesAreFoundByNameAliasAndRelease) {
  EXPECT_THAT(FrameworkNames(), IsSupersetOf({"fsdp", "megatron"}));
  EXPECT_EQ(ValueOrDie(LoadFramework("Megatron")).name, "megatron");
  EXPECT_EQ(ValueOrDie(LoadFramework("nemo")).name, "megatron-bridge");
  EXPECT_THAT(
      LoadFramework("fsdp@2"),
      StatusIs(kInvalidArgument, "fsdp@2: no releases of fsdp are told apart"));
  EXPECT_EQ(LoadFramework("none.yaml").status().code(), kNotFound);
  EXPECT_FALSE(ValueOrDie(LoadFramework("megatron@0.12")).weights_in_experts);
  EXPECT_TRUE(ValueOrDie(LoadFramework("megatron@0.13")).weights_in_experts);
}

}  // namespace
}  // namespace astra
