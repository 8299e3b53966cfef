#include "workload/kernels/bounds.h"

#include <gtest/gtest.h>

#include "workload/kernels/family.h"

namespace astra {
namespace {

// Only operations count, in units of 10^6; or only bytes, of 10^3.
KernelPeaks Operations() {
  GpuSpec gpu;
  gpu.peak_tflops = {1, 1, 2};
  gpu.memory_gb_per_s = 1e12;
  return KernelPeaks(gpu);
}

KernelPeaks Memory() {
  GpuSpec gpu;
  gpu.peak_tflops = {1e12, 1e12, 1e12};
  gpu.memory_gb_per_s = 1;
  return KernelPeaks(gpu);
}

double FlopsOf(KernelBound bound, const KernelCall& call) {
  ExpertLoads loads;
  return 1e6 * bound(call, Operations(), loads);
}

double BytesOf(KernelBound bound, const KernelCall& call) {
  ExpertLoads loads;
  return 1e3 * bound(call, Memory(), loads);
}

TEST(BoundsTest, ProductsMoveEachOperandOnce) {
  const KernelCall call = {
      .words = {"bfloat16"}, .sizes = {300, 200}, .point = {100}};
  EXPECT_NEAR(FlopsOf(GemmBound, call), 2.0 * 100 * 300 * 200, 1e-3);
  EXPECT_NEAR(BytesOf(GemmBound, call), 2 * (100 * 200 + 300 * 200 + 100 * 300),
              1e-3);
}

TEST(BoundsTest, EightBitsHalveTheOperandsAndDoubleTheRate) {
  const KernelCall call = {
      .words = {"fp8"}, .sizes = {300, 200}, .point = {100}};
  EXPECT_NEAR(FlopsOf(GemmBound, call), 100 * 300 * 200, 1e-3);
  EXPECT_NEAR(BytesOf(GemmBound, call), 100 * 200 + 300 * 200 + 2 * 100 * 300,
              1e-3);
}

TEST(BoundsTest, PromptsSeeTheTriangleWithinTheWindow) {
  // 4 queries see 1 + 2 + 3 + 4 keys; in a window of 2, 1 + 2 + 2 + 2.
  KernelCall call = {
      .words = {"bfloat16", "fp8"}, .sizes = {8, 2, 64, 0}, .point = {3, 4}};
  EXPECT_NEAR(FlopsOf(ContextAttentionBound, call), 4.0 * 3 * 8 * 64 * 10,
              1e-3);
  EXPECT_NEAR(BytesOf(ContextAttentionBound, call),
              3 * 4 * 8 * 64 * 4 + 2 * 3 * 4 * 2 * 64, 1e-3);
  call.sizes[3] = 2;
  EXPECT_NEAR(FlopsOf(ContextAttentionBound, call), 4.0 * 3 * 8 * 64 * 7, 1e-3);
  call.sizes[3] = 0;
  call.past = 5;  // 5 more keys for each query.
  EXPECT_NEAR(FlopsOf(ContextAttentionBound, call), 4.0 * 3 * 8 * 64 * 30,
              1e-3);
}

TEST(BoundsTest, AStepReadsTheCache) {
  KernelCall call = {
      .words = {"bfloat16"}, .sizes = {8, 2, 64, 0}, .point = {3, 99}};
  EXPECT_NEAR(BytesOf(GenerationAttentionBound, call),
              2 * 3 * 100 * 2 * 64 * 2 + 4 * 3 * 8 * 64, 1e-3);
  call.sizes[3] = 10;
  EXPECT_NEAR(BytesOf(GenerationAttentionBound, call),
              2 * 3 * 10 * 2 * 64 * 2 + 4 * 3 * 8 * 64, 1e-3);
}

TEST(BoundsTest, ExpertsReadTheMatricesThatHaveRows) {
  // 16 tokens choose 2 of 8 experts; a rank of 2 has 4 experts and 16 rows.
  const KernelCall call = {.words = {"bfloat16"},
                           .sizes = {128, 64, 2, 8, 2, 2, 3},
                           .point = {0, 16}};
  EXPECT_NEAR(FlopsOf(MoeBound, call), 2.0 * 16 * 128 * 32 * 3, 1e-3);
  EXPECT_NEAR(BytesOf(MoeBound, call),
              4 * 3 * 128 * 32 * 2 + 16 * (128 * 4 + 32 * 6), 1e-3);
}

TEST(BoundsTest, EachFamilyHasABound) {
  for (const KernelFamily& family : KernelFamilies()) {
    KernelCall call = {.family = &family};
    call.words.assign(family.words.size(), "bfloat16");
    call.sizes.fill(1);
    call.point.fill(1);
    ExpertLoads loads;
    EXPECT_GT(family.bound_us(call, Memory(), loads), 0) << family.name;
    EXPECT_EQ(FindKernelFamily(family.name), &family);
  }
}

}  // namespace
}  // namespace astra
