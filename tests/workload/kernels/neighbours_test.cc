#include "workload/kernels/neighbours.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace astra {
namespace {

// Products of k = 1024 at m = 1; memory takes no time, and a bound of 2 n k
// operations at 2^21 / us is n / 1024.
Surface Products(const std::vector<double>& widths,
                 const std::vector<double>& times_us) {
  GpuSpec gpu;
  gpu.peak_tflops = {1, 2.097152, 1};
  gpu.memory_gb_per_s = 1e9;
  SurfaceTimes times;
  times.family = FindKernelFamily("gemm");
  times.words = {"bfloat16"};
  times.floor_us = 1;
  times.axes = {{{1}, {0}}};
  for (size_t i = 0; i < widths.size(); ++i) {
    times.lines.push_back({{widths[i], 1024}, ""});
    times.log_us.push_back(static_cast<float>(std::log(times_us[i])));
  }
  ExpertLoads loads;
  return Surface(std::move(times), KernelPeaks(gpu), loads);
}

KernelCall Product(double width) {
  return {.family = FindKernelFamily("gemm"),
          .words = {"bfloat16"},
          .sizes = {width, 1024},
          .point = {1}};
}

TEST(LinearWeightsTest, BetweenTwoEqualNeighboursEachCountsHalf) {
  const std::vector<KernelCoordinates> offsets = {{-1}, {1}};
  std::vector<Neighbour> neighbours = {{.inverse = 0.5}, {.inverse = 0.5}};
  SetLinearWeights(offsets, 1, neighbours);
  EXPECT_NEAR(neighbours[0].linear, 0.5, 1e-12);
  EXPECT_NEAR(neighbours[1].linear, 0.5, 1e-12);
}

TEST(NeighboursTest, BesideThemTheLineThroughThemGoesOn) {
  // The widths are 1 and 2 octaves from that of the call, so the inverse
  // weights are 1 / 1.05 and 1 / 4.05, in all 1.199295:
  //   w = 0.794117, 0.205883       mu = 1.205883
  //   S = 0.033661 + 0.129834 + 0.05 = 0.213495      S^-1 mu = 5.64830
  //   0.794117 (1 + 0.205883 x 5.64830) = 1.71759
  const Surface surface = Products({2048, 4096}, {1, 1});
  const std::vector<Neighbour> found =
      FindNeighbours(surface, Product(1024), false);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].line, 0u);
  EXPECT_NEAR(found[0].distance, 1, 1e-9);
  EXPECT_NEAR(found[0].inverse, 0.794117, 1e-6);
  EXPECT_NEAR(found[0].linear, 1.71759, 1e-5);
  EXPECT_NEAR(found[1].linear, -0.71759, 1e-5);
}

TEST(NeighboursTest, TheShareIsOfTheirShares) {
  // Shares 6 / (2 + 1) = 2 and 40 / (8 + 1), each an octave away.
  const Surface surface = Products({2048, 8192}, {6, 40});
  const auto share = ShareOfNeighbours(surface, Product(4096), false);
  ASSERT_TRUE(share.has_value());
  EXPECT_NEAR(share->log_share, 0.5 * (std::log(2.0) + std::log(40.0 / 9)),
              1e-6);
  EXPECT_EQ(share->source, TimeSource::kNeighbours);
}

TEST(NeighboursTest, LeavesOutTheShapeItself) {
  const Surface surface = Products({2048, 4096}, {6, 20});
  EXPECT_EQ(FindNeighbours(surface, Product(4096), false).size(), 2u);
  EXPECT_EQ(FindNeighbours(surface, Product(4096), true).size(), 1u);
}

TEST(NeighboursTest, WithoutLinesThereIsNoShare) {
  EXPECT_EQ(ShareOfNeighbours(Products({}, {}), Product(4096), false),
            std::nullopt);
}

}  // namespace
}  // namespace astra
