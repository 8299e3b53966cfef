#include "workload/kernels/surface_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace astra {
namespace {

constexpr std::string_view kHead = "gpu=g;family=gemm;backend=vllm\n";
constexpr std::string_view kBlock =
    "@bfloat16;floor_us=1.5;m=1,2,4;columns=n,k\n";

std::string ErrorOf(std::string_view text) {
  const auto surfaces = ParseSurfaceText("f.txt", text);
  return surfaces.ok() ? "ok" : std::string(surfaces.status().message());
}

std::string ErrorOfLine(std::string_view line) {
  return ErrorOf(std::string(kHead) + std::string(kBlock) + std::string(line));
}

TEST(SurfaceTextTest, TimesAreDifferencesFromTheirNeighbours) {
  // 100 steps in three characters: 4240 = 46 x 91 + 54, "Q" and "Y"; then
  // 100 + 10 ("Z" is 90). Below: 100 + 5 ("U") and 105 + 110 - 100 - 5 ("K").
  const auto surfaces = ParseSurfaceText(
      "f.txt", "# A comment.\n" + std::string(kHead) + std::string(kBlock) +
                   "32,64,~QYZ\n64,64,UK \n");
  ASSERT_TRUE(surfaces.ok()) << surfaces.status();
  ASSERT_EQ(surfaces->size(), 1u);
  const SurfaceTimes& times = (*surfaces)[0];
  EXPECT_EQ(times.gpu, "g");
  EXPECT_EQ(times.backend, "vllm");
  EXPECT_EQ(times.family->name, "gemm");
  EXPECT_THAT(times.words, ::testing::ElementsAre("bfloat16"));
  EXPECT_EQ(times.floor_us, 1.5);
  EXPECT_THAT(times.axes[0], ::testing::ElementsAre(1, 2, 4));
  ASSERT_EQ(times.lines.size(), 2u);
  EXPECT_EQ(times.lines[1].sizes[0], 64);
  ASSERT_EQ(times.log_us.size(), 6u);
  EXPECT_FLOAT_EQ(times.log_us[0], 1.0F);
  EXPECT_FLOAT_EQ(times.log_us[1], 1.1F);
  EXPECT_TRUE(std::isnan(times.log_us[2]));
  EXPECT_FLOAT_EQ(times.log_us[3], 1.05F);
  EXPECT_FLOAT_EQ(times.log_us[4], 1.1F);
}

TEST(SurfaceTextTest, ExpertsSayTheirKernels) {
  const auto surfaces = ParseSurfaceText(
      "f.txt",
      "gpu=g;family=moe;backend=vllm;kernels=a,b\n"
      "@fp8;floor_us=1;distribution=0;num_tokens=1;columns=hidden_size,"
      "inter_size,topk,num_experts,moe_tp_size,moe_ep_size,matrices,kernel\n"
      "64,32,2,8,1,1,3,1,P\n");
  ASSERT_TRUE(surfaces.ok()) << surfaces.status();
  EXPECT_EQ((*surfaces)[0].lines[0].kernel, "b");
}

TEST(SurfaceTextTest, RefusesHeadsOfAnotherForm) {
  EXPECT_EQ(ErrorOf(""), "f.txt:0:1: expected gpu=...;family=...;backend=...");
  EXPECT_EQ(ErrorOf("name=x"), "f.txt:1:1: expected gpu=..., got \"name=x\"");
  EXPECT_THAT(
      ErrorOf("gpu=g;family=gem;backend=vllm"),
      ::testing::StartsWith("f.txt:1:7: unknown family \"gem\"; did you "
                            "mean \"gemm\"?"));
  EXPECT_EQ(ErrorOf("gpu=g;family=gemm;backend=vllm;x"),
            "f.txt:1:32: expected the end");
}

TEST(SurfaceTextTest, RefusesSurfacesOfAnotherForm) {
  const std::string head(kHead);
  EXPECT_EQ(ErrorOf(head + "32,64,P"), "f.txt:2:1: expected @WORDS;...");
  EXPECT_EQ(ErrorOf(head + "@fp8/fp8;"),
            "f.txt:2:2: expected 1 words with / between, got 2");
  EXPECT_EQ(ErrorOf(head + "@fp8;floor_us=1;m=2,1;columns=n,k"),
            "f.txt:2:17: m is not ascending at 1");
  EXPECT_EQ(ErrorOf(head + "@fp8;floor_us=1;m=1;columns=k,n"),
            "f.txt:2:21: expected columns=n,k, got \"k,n\"");
  EXPECT_THAT(ErrorOf(head + "@fp8;floor_us=0;m=1;columns=n,k"),
              ::testing::StartsWith("f.txt:2:6: floor_us"));
}

TEST(SurfaceTextTest, RefusesLinesOfAnotherForm) {
  EXPECT_THAT(ErrorOfLine("0,64,P"), ::testing::StartsWith("f.txt:3:1: n"));
  EXPECT_EQ(ErrorOfLine("32,64,\""),
            "f.txt:3:7: expected a time, got \"\\\"\"");
  EXPECT_EQ(ErrorOfLine("32,64,~#"),
            "f.txt:3:7: expected two characters from # to } behind ~");
  EXPECT_EQ(ErrorOfLine("32,64,PPPP"), "f.txt:3:10: more times than points");
  EXPECT_EQ(ErrorOfLine("32,64,"), "f.txt:3:7: expected a time");
  EXPECT_EQ(ErrorOfLine("32,64,P\n32,64,P"),
            "f.txt:4:4: sizes are not ascending");
  EXPECT_EQ(ErrorOfLine("32,64,~}}~}}~}}"),
            "f.txt:3:16: a time beyond all bounds before this");
}

}  // namespace
}  // namespace astra
