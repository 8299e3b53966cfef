#include "astra-core/planner/internevo/evo_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/astra-core/planner/internevo/small_evo_job.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::kSmallModel;
using ::astra::testing::ReadText;
using ::astra::testing::SourcePath;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kData = "data: {seq_len: 4, micro_bsz: 1}\n";

std::string ErrorOf(const std::string& text) {
  Warnings warnings;
  return std::string(
      ReadEvoConfig("c.yaml", text, &warnings).status().message());
}

TEST(EvoConfigTest, ReadsInternLM2) {
  Warnings warnings;
  const EvoConfig config = ValueOrDie(ReadEvoConfig(
      "c", ReadText(SourcePath("inputs/internevo/7B_internlm2.yaml")),
      &warnings));
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(*config.model, (EvoModel{.hidden = 4096,
                                     .layers = 32,
                                     .heads = 32,
                                     .kv_heads = 8,
                                     .vocabulary = 92544,
                                     .ffn = 14336}));
  EXPECT_EQ(config.seq_len, 2048);
  EXPECT_EQ(config.layout, (EvoLayout{.mode = EvoMode::kIsp,
                                      .sequence = 2,
                                      .weight = 2,
                                      .zero = -1,
                                      .micro_bsz = 1,
                                      .micro_num = 4}));
}

TEST(EvoConfigTest, WhatIsWrittenReadsBack) {
  const EvoLayout layout = {.mode = EvoMode::kIsp,
                            .pipeline = 2,
                            .sequence = 2,
                            .weight = 4,
                            .zero = 2,
                            .micro_bsz = 3,
                            .micro_num = 5,
                            .checkpoint = 0.5};
  Warnings warnings;
  const EvoConfig config = ValueOrDie(
      ReadEvoConfig("c", FormatEvoConfig(kSmallModel, 4, layout), &warnings));
  EXPECT_EQ(*config.model, kSmallModel);
  EXPECT_EQ(config.layout, layout);
}

TEST(EvoConfigTest, PartsOfParallelMayBeSizesAlone) {
  Warnings warnings;
  const EvoConfig config = ValueOrDie(ReadEvoConfig(
      "c", std::string(kData) + "parallel: {zero1: 8, tensor: 1, pipeline: 2}",
      &warnings));
  EXPECT_EQ(config.layout.zero, 8);
  EXPECT_EQ(config.layout.pipeline, 2);
  EXPECT_EQ(config.layout.mode, EvoMode::kMsp);
}

TEST(EvoConfigTest, WarnsOfKeysThatChangeNoTime) {
  Warnings warnings;
  ValueOrDie(ReadEvoConfig(
      "c.yaml",
      "data: {seq_len: 4, micro_bsz: 1, min_length: 50, valid_every: 0}\n"
      "adam: {lr: 1e-4}\n",
      &warnings));
  EXPECT_THAT(
      warnings,
      ElementsAre(
          "c.yaml: data has keys that change no time: min_length, valid_every",
          "c.yaml: the config has keys that change no time: adam"));
}

TEST(EvoConfigTest, SaysWhatIsWrong) {
  const std::string data(kData);
  EXPECT_EQ(ErrorOf("{}"), "c.yaml:1:1: the config has no \"data\"");
  EXPECT_EQ(ErrorOf("data: {seq_length: 4, micro_bsz: 1}"),
            "c.yaml:1:20: data has no \"seq_len\"; is \"seq_length\" meant?");
  EXPECT_EQ(ErrorOf("data: {seq_len: 0, micro_bsz: 1}"),
            "c.yaml:1:17: seq_len is \"0\": expected a whole number from 1 to "
            "16777216");
  EXPECT_EQ(ErrorOf("data: {seq_len: 8192, micro_bsz: 4096}"),
            "c.yaml:1:34: micro_bsz 4096 x seq_len 8192: expected at most "
            "16777216 tokens");
  EXPECT_EQ(ErrorOf(data + "model: {hidden_size: 8, num_layers: 1, "
                           "num_attention_heads: 3, vocab_size: 9, "
                           "mlp_ratio: 3}"),
            "c.yaml:2:61: num_attention_heads 3 does not divide hidden_size 8");
  EXPECT_EQ(ErrorOf(data + "parallel: {tensor: {size: 2, mode: ips}}"),
            "c.yaml:2:36: unknown mode \"ips\"; did you mean \"isp\"? (known: "
            "msp, fsp, isp, mtp)");
  EXPECT_EQ(ErrorOf(data + "parallel: {tensor: 2}"),
            "c.yaml:2:20: mode mtp splits no sequences, and InternEvo's "
            "simulator has no times for it; expected msp, fsp or isp");
  EXPECT_EQ(ErrorOf(data + "parallel: {tensor: {size: 2, mode: msp}, "
                           "weight: {size: 2}}"),
            "c.yaml:2:50: weight parallelism of 2 needs tensor mode isp, not "
            "msp");
  EXPECT_EQ(
      ErrorOf(data + "parallel: {zero1: {size: 8, fsdp: true}}"),
      "c.yaml:2:35: fsdp is \"true\": FSDP is not priced; expected false");
}

TEST(EvoConfigTest, LayoutsMustDivide) {
  const auto error = [](const EvoLayout& layout) {
    return std::string(CheckEvoLayout(kSmallModel, 4, 8, layout).message());
  };
  EXPECT_EQ(error({.pipeline = 2, .sequence = 2, .zero = 2}), "");
  EXPECT_EQ(error({.pipeline = 3}),
            "pipeline size 3 does not divide the world size 8");
  EXPECT_EQ(error({.pipeline = 8}),
            "pipeline size 8 is more than the 4 layers");
  EXPECT_EQ(error({.sequence = 4}),
            "tensor size 4 does not divide num_kv_attention_heads 2");
  EXPECT_EQ(error({.zero = 3}), "zero1 size 3 does not divide the replicas, 8");
  EXPECT_EQ(error({.mode = EvoMode::kIsp, .weight = 3}),
            "weight size 3 does not divide the ranks of a stage, 8");
}

}  // namespace
}  // namespace astra
