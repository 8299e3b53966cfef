#include "workload/kernels/surface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace astra {
namespace {

// 10^6 operations and 10^9 bytes in a microsecond.
KernelPeaks Peaks() {
  GpuSpec gpu;
  gpu.peak_tflops = {1, 1, 1};
  gpu.memory_gb_per_s = 1e6;
  return KernelPeaks(gpu);
}

Surface SurfaceOf(std::string_view family, std::vector<std::string> words,
                  std::array<std::vector<double>, 2> axes, KernelSizes sizes,
                  const std::vector<double>& times_us) {
  SurfaceTimes times;
  times.family = FindKernelFamily(family);
  times.words = std::move(words);
  times.floor_us = 1;
  times.axes = std::move(axes);
  times.lines = {{sizes, ""}};
  for (const double us : times_us) {
    times.log_us.push_back(us > 0 ? static_cast<float>(std::log(us))
                                  : std::numeric_limits<float>::quiet_NaN());
  }
  ExpertLoads loads;
  return Surface(std::move(times), Peaks(), loads);
}

// The bound of m rows is m microseconds.
Surface Products() {
  return SurfaceOf("gemm", {"bfloat16"}, {{{1, 3, 7, 9}, {0}}}, {1000, 500},
                   {2, 8, 16, 0});
}

TEST(SurfaceTest, AMeasuredPointIsReturnedAsItIs) {
  const SharePoint share = Products().ShareOf(0, {3, 0}, 3);
  EXPECT_NEAR(share.log_share, std::log(8.0 / (3 + 1)), 1e-6);
  EXPECT_EQ(share.source, TimeSource::kMeasured);
}

TEST(SurfaceTest, BetweenTwoPointsTheTimeIsLinear) {
  const SharePoint share = Products().ShareOf(0, {4, 0}, 4);
  EXPECT_NEAR(share.log_share, std::log(10.0 / (4 + 1)), 1e-6);
  EXPECT_EQ(share.source, TimeSource::kInterpolated);
}

TEST(SurfaceTest, BeyondTheGridTheShareOfItsEndCounts) {
  // 16 us at m = 7, though the grid has a point at 9 that was not measured.
  const SharePoint share = Products().ShareOf(0, {8, 0}, 8);
  EXPECT_NEAR(share.log_share, std::log(16.0 / (7 + 1)), 1e-6);
  EXPECT_EQ(share.source, TimeSource::kExtrapolated);
  EXPECT_TRUE(Products().IsWithin({8, 0}));
  EXPECT_FALSE(Products().IsWithin({10, 0}));
}

TEST(SurfaceTest, AlongPromptsTheRootOfTheTimeIsLinear) {
  const Surface surface =
      SurfaceOf("context_attention", {"bfloat16", "bfloat16"}, {{{1}, {1, 3}}},
                {1, 1, 64, 0}, {4, 16});
  // ((2 + 4) / 2)^2 = 9.
  EXPECT_NEAR(surface.ShareOf(0, {1, 2}, 8).log_share, std::log(9.0 / 9), 1e-6);
}

TEST(SurfaceTest, BetweenFourPointsBothAxesAreLinear) {
  const Surface surface =
      SurfaceOf("generation_attention", {"bfloat16"}, {{{1, 3}, {1, 3}}},
                {1, 1, 64, 0}, {1, 3, 5, 7});
  EXPECT_NEAR(surface.ShareOf(0, {2, 2}, 1).log_share, std::log(4.0 / 2), 1e-6);
}

TEST(SurfaceTest, AMissingCornerLeavesTheNearestPoint) {
  const Surface surface =
      SurfaceOf("generation_attention", {"bfloat16"}, {{{1, 3}, {1, 3}}},
                {1, 1, 64, 0}, {1, 3, 5, 0});
  EXPECT_EQ(surface.ShareOf(0, {2, 2}, 1).source, TimeSource::kExtrapolated);
}

TEST(SurfaceTest, ABorrowedShareIsLinearInLogarithms) {
  // Shares 2 / 2 at m = 1 and 8 / 4 at m = 3.
  EXPECT_NEAR(Products().BorrowedShare(0, {std::sqrt(3.0), 0}),
              0.5 * std::log(2.0), 1e-6);
  EXPECT_NEAR(Products().BorrowedShare(0, {100, 0}), std::log(2.0), 1e-6);
}

TEST(SurfaceTest, FindsLinesBySizes) {
  EXPECT_EQ(Products().FindLine({1000, 500}), 0u);
  EXPECT_EQ(Products().FindLine({1000, 501}), std::nullopt);
}

}  // namespace
}  // namespace astra
