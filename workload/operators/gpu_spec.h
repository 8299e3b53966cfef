// Describes a GPU by its public peak numbers and by the calibrated share of
// them that kernels reach.

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

// Precision of the operands of a matrix product. FP16 is as fast as BF16 on
// every GPU and counts as BF16.
enum class Precision : uint8_t { kFp32, kBf16, kFp8 };
constexpr Precision kPrecisions[] = {Precision::kFp32, Precision::kBf16,
                                     Precision::kFp8};
constexpr size_t IndexOf(Precision precision) {
  return static_cast<size_t>(precision);
}
std::string_view Name(Precision precision);  // Returns "fp32", ...
int64_t BytesOf(Precision precision);        // Returns 4, 2 or 1.

// The shares of the peaks that kernels reach; 1 is the peak itself.
struct Calibration {
  // Best matrix products, by Precision; 0: as the next wider precision.
  std::array<double, std::size(kPrecisions)> gemm{};
  double grouped_gemm = 0;  // Grouped products of experts, relative to gemm.
  double attention_forward = 0;  // Flash attention, of the BF16 peak.
  double attention_backward = 0;
  double attention_bias = 1;    // Attention with a bias, relative to without.
  double linear_attention = 0;  // Chunked delta rule, of the BF16 peak.
  double memory = 0;            // Kernels bound by memory, unless in memory_of.
  std::map<std::string, double> memory_of;  // By name of the operator.
  // Microseconds to start and end a kernel, besides its work.
  double kernel_us = 0;
  double tile_fill_k = 0;  // Depth at which a product runs at half its rate.
  // Rate of products and attention during training, relative to the same
  // operators alone, since clocks fall under the power limit. sharded_load
  // applies with sharded parameters or gradients (ZeRO 2 and 3), which
  // frameworks copy to and from buffers. 1: not known.
  double training_load = 1;
  double sharded_load = 1;
  // Share of its speed that computation loses while a collective runs beside it
  // and takes SMs and memory bandwidth; 0: not known.
  double communication_slowdown = 0;
  std::string origin;  // Source of the numbers: a fit, or another GPU.
  double error = 0;    // Median error of the fit for one operator.
};

// How much is known of a constant: its maker states it, it was fitted to
// measurements of this GPU, it follows from other numbers or from another GPU,
// or nothing measured speaks for it.
enum class OriginGrade : uint8_t { kStated, kMeasured, kDerived, kGuessed };

struct ConstantOrigin {
  OriginGrade grade = OriginGrade::kStated;
  std::string source;
  std::vector<std::string> constants;  // Names as in gpu_origins.h.
};

struct GpuSpec {
  std::string name;
  std::vector<std::string> aliases;
  std::vector<std::string> sources;
  std::vector<ConstantOrigin> origins;  // Empty: the file does not say.
  std::string architecture;             // Such as "Hopper".
  int64_t num_sms = 0;
  double clock_mhz = 0;  // Boost clock.
  // Dense products, by Precision; 0: no such unit.
  std::array<double, std::size(kPrecisions)> peak_tflops{};
  double fp4_tflops = 0;     // Dense products in FP4; 0: no such unit.
  double vector_tflops = 0;  // FP32 without tensor cores.
  double memory_gb = 0;      // In units of 10^9 bytes.
  double memory_gb_per_s = 0;
  double l2_cache_mb = 0;
  double nvlink_gb_per_s = 0;  // All links, one direction; 0: no NVLink.
  double pcie_gb_per_s = 0;    // One direction.
  Calibration calibration;
};

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_GPU_SPEC_H_
