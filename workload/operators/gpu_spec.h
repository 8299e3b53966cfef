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
// every GPU and counts as BF16. Narrower operands are cast from BF16, with
// scales of their own:
//
//   fp8        a scale for a tensor
//   fp8_block  a scale in FP32 for 128 values, as DeepSeek-V3 trains
//   mxfp8      a scale of a byte for 32 values (OCP Microscaling Formats 1.0)
//   nvfp4      a scale of a byte for 16 values (NVIDIA, arXiv 2509.25149)
enum class Precision : uint8_t {
  kFp32,
  kBf16,
  kFp8,
  kFp8Block,
  kMxfp8,
  kNvfp4
};
constexpr Precision kPrecisions[] = {Precision::kFp32,  Precision::kBf16,
                                     Precision::kFp8,   Precision::kFp8Block,
                                     Precision::kMxfp8, Precision::kNvfp4};
constexpr size_t IndexOf(Precision precision) {
  return static_cast<size_t>(precision);
}
std::string_view Name(Precision precision);  // Returns "fp32", ...
// Returns the bytes of a value with its part of a scale: 4, 2, 1, 1.03, ...
double BytesOf(Precision precision);
// Returns whether operands are cast from BF16.
constexpr bool IsCast(Precision precision) {
  return precision >= Precision::kFp8;
}

// The shares of the peaks that kernels reach; 1 is the peak itself.
struct Calibration {
  // Best matrix products, by Precision; 0: no such unit.
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
  // Shares of the BF16 peak and of the bandwidth of the memory that the best
  // kernels of all reach; 0: not known. Measured times of kernels are carried
  // over to another GPU by what both reach, where both are known.
  double reached_compute = 0;
  double reached_memory = 0;
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
  double vector_tflops = 0;  // FP32 without tensor cores.
  double memory_gb = 0;      // As its maker counts: in GiB.
  // Memory that CUDA reports in GiB: without what the driver keeps, and what
  // error correction takes where it has no memory of its own. 0: not known.
  double cuda_gib = 0;
  double memory_gb_per_s = 0;
  double l2_cache_mb = 0;
  double nvlink_gb_per_s = 0;  // All links, one direction; 0: no NVLink.
  double pcie_gb_per_s = 0;    // One direction.
  Calibration calibration;
};

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_GPU_SPEC_H_
