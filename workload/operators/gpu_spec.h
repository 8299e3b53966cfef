// What a GPU can do, in public numbers, and how much of it kernels reach, in
// calibrated ones.

#ifndef WORKLOAD_OPERATORS_GPU_SPEC_H_
#define WORKLOAD_OPERATORS_GPU_SPEC_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace astra {

// Of the operands of a matrix product. FP16 is as fast as BF16 everywhere and
// is not told apart.
enum class Precision : uint8_t { kFp32, kBf16, kFp8 };
constexpr Precision kPrecisions[] = {Precision::kFp32, Precision::kBf16,
                                     Precision::kFp8};
constexpr size_t IndexOf(Precision precision) {
  return static_cast<size_t>(precision);
}
std::string_view Name(Precision precision);  // "fp32", "bf16", "fp8".
int64_t BytesOf(Precision precision);        // 4, 2, 1.

// The share of the peaks that kernels reach. 1 is the peak itself.
struct Calibration {
  // By Precision: the best matrix products; 0: see the next wider one.
  std::array<double, std::size(kPrecisions)> gemm{};
  double grouped_gemm = 0;       // Relative to gemm, for experts.
  double attention_forward = 0;  // Flash attention, of the BF16 peak.
  double attention_backward = 0;
  double attention_bias = 1;    // Relative to these, with a bias of the scores.
  double linear_attention = 0;  // Chunked delta rule, of the BF16 peak.
  double memory = 0;            // Kernels bound by memory, unless named:
  std::map<std::string, double> memory_of;  // By name of the operator.
  // Of any kernel beside its work: start and end. The same by name of the
  // operator, also of what the host does at that point ("routing").
  double kernel_us = 0;
  std::map<std::string, double> kernel_us_of;
  double tile_fill_k = 0;  // A product of this depth runs at half rate.
  // What training keeps up of the rate of products and attention that run by
  // themselves, since clocks fall under the power limit; and the same where
  // parameters or gradients are sharded (ZeRO 2 and 3), so that collectives run
  // beside all computation and take SMs and memory bandwidth. 1: not known.
  double training_load = 1;
  double sharded_load = 1;
  // The share of its speed that computation loses just while a collective runs
  // beside it, for the same reason; 0: not known.
  double communication_slowdown = 0;
  std::string origin;  // What it was fitted to, or taken over from.
  double error = 0;    // Of one operator: the median of the fit.
};

struct GpuSpec {
  std::string name;
  std::vector<std::string> aliases;
  std::vector<std::string> sources;
  std::string architecture;  // "Hopper".
  int64_t num_sms = 0;
  double clock_mhz = 0;                                      // Boost.
  std::array<double, std::size(kPrecisions)> peak_tflops{};  // Dense; 0: none.
  double vector_tflops = 0;  // FP32, no tensor core.
  double memory_gb = 0;      // 10^9 B.
  double memory_gb_per_s = 0;
  double l2_cache_mb = 0;
  double nvlink_gb_per_s = 0;  // One direction, all links; 0: none.
  double pcie_gb_per_s = 0;    // One direction.
  Calibration calibration;
};

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_GPU_SPEC_H_
