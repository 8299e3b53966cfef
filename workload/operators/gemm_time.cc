#include "workload/operators/gemm_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace astra {
namespace {

// A tile of m x n and the share of the best rate that it reaches.
struct Tile {
  double m;
  double n;
  double rate;
};
// The rates are (m n / 32768)^0.15. Powers from 0.1 to 0.2 match the data of
// scripts/calibrate_operators.py about equally well.
constexpr Tile kTiles[] = {
    {256, 128, 1.0}, {128, 256, 1.0}, {128, 128, 0.90}, {128, 64, 0.81},
    {64, 128, 0.81}, {64, 64, 0.73},  {16, 64, 0.59},
};

constexpr double kSplits[] = {1, 2, 4, 8};
constexpr double kLeastPartOfK = 512;
// A partial result is written and read in FP32.
constexpr double kBytesPerSplitResult = 8;

}  // namespace

double GemmFlopsPerSecond(const GpuSpec& gpu, Precision precision) {
  for (size_t i = IndexOf(precision);; --i) {
    const double rate = gpu.peak_tflops[i] * gpu.calibration.gemm[i] * 1e12;
    if (rate > 0 || i == 0) return rate;
  }
}

double GemmComputeTime(const GpuSpec& gpu, const Gemm& gemm,
                       Precision precision) {
  const Calibration& calibration = gpu.calibration;
  const auto sms = static_cast<double>(gpu.num_sms);
  const auto groups = static_cast<double>(gemm.groups);
  const auto m = static_cast<double>(gemm.m);
  const auto n = static_cast<double>(gemm.n);
  const auto k = static_cast<double>(gemm.k);
  double rate_per_sm = GemmFlopsPerSecond(gpu, precision) / sms;
  if (gemm.groups > 1) rate_per_sm *= calibration.grouped_gemm;
  const double split_time = groups * m * n * kBytesPerSplitResult /
                            (gpu.memory_gb_per_s * 1e9 * calibration.memory);

  double best = std::numeric_limits<double>::infinity();
  for (const Tile& tile : kTiles) {
    const double tiles = groups * std::ceil(m / tile.m) * std::ceil(n / tile.n);
    for (const double split : kSplits) {
      const double waves = std::ceil(tiles * split / sms);
      const double part = split > 1 ? std::max(k / split, kLeastPartOfK) : k;
      const double depth = part + calibration.tile_fill_k;
      const double time =
          waves * 2 * tile.m * tile.n * depth / (rate_per_sm * tile.rate);
      best = std::min(best, split > 1 ? time + split_time : time);
    }
  }
  return best;
}

}  // namespace astra
