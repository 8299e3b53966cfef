#include "workload/kernels/kernel_element.h"

#include <algorithm>

namespace astra {
namespace {

// Scales: a byte for 16 values (NVFP4), for 32 (MX), a float for 128 (blocks,
// left out).
// clang-format off
constexpr KernelElement kTypes[] = {
    {"bfloat16", 2, 2, KernelUnit::kBf16, ""},
    {"float16", 2, 2, KernelUnit::kBf16, "bfloat16"},
    {"fp8", 1, 1, KernelUnit::kFp8, "bfloat16"},
    {"fp8_static", 1, 1, KernelUnit::kFp8, "fp8"},
    {"fp8_ootb", 1, 1, KernelUnit::kFp8, "fp8"},
    {"fp8_block", 1, 1, KernelUnit::kFp8, "fp8"},
    {"mxfp8", 1.03, 1.03, KernelUnit::kFp8, "fp8_block"},
    {"nvfp4", .5625, .5625, KernelUnit::kFp4, "fp8"},
    {"mxfp4", .53125, .53125, KernelUnit::kFp4, "nvfp4"},
    {"w4a16_mxfp4", 2, .53125, KernelUnit::kBf16, "int4_wo"},
    {"w4a8_mxfp4_mxfp8", 1.03, .53125, KernelUnit::kFp8, "fp8"},
    {"w4a8_mxfp4_fp8", 1, .53125, KernelUnit::kFp8, "w4a8_mxfp4_mxfp8"},
    {"w4a8_nvfp4_fp8", 1, .5625, KernelUnit::kFp8, "w4a8_mxfp4_mxfp8"},
    {"w4afp8", 1, .5, KernelUnit::kFp8, "fp8"},
    {"int8_wo", 2, 1, KernelUnit::kBf16, "bfloat16"},
    {"int4_wo", 2, .5, KernelUnit::kBf16, "int8_wo"},
    {"sq", 1, 1, KernelUnit::kInt8, "fp8"},
};
// clang-format on

}  // namespace

absl::Span<const KernelElement> KernelElements() { return kTypes; }

const KernelElement* FindKernelElement(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kTypes), std::end(kTypes),
                   [name](const KernelElement& t) { return t.name == name; });
  return found == std::end(kTypes) ? nullptr : found;
}

KernelPeaks::KernelPeaks(const GpuSpec& gpu, double compute_share,
                         double memory_share) {
  constexpr double kPerTera = 1e6;  // Operations of a TFLOP/s in 1 us.
  constexpr double kPerGiga = 1e3;  // Bytes of a GB/s in 1 us.
  const double bf16 = gpu.peak_tflops[IndexOf(Precision::kBf16)];
  const double fp8 = gpu.peak_tflops[IndexOf(Precision::kFp8)];
  const double fp4 = gpu.peak_tflops[IndexOf(Precision::kNvfp4)];
  const double fp8_or_bf16 = fp8 > 0 ? fp8 : bf16;
  // Ampere has INT8 and no FP8; later GPUs run both at one rate.
  const double rates[] = {bf16, fp8_or_bf16, fp4 > 0 ? fp4 : fp8_or_bf16,
                          fp8 > 0 ? fp8 : 2 * bf16};
  for (size_t i = 0; i < std::size(rates); ++i) {
    flops_per_us_[i] = compute_share * rates[i] * kPerTera;
  }
  bytes_per_us_ = memory_share * gpu.memory_gb_per_s * kPerGiga;
}

KernelPeaks ReachedPeaks(const GpuSpec& gpu, const GpuSpec& other) {
  const Calibration& own = gpu.calibration;
  const bool has_compute =
      own.reached_compute > 0 && other.calibration.reached_compute > 0;
  const bool has_memory =
      own.reached_memory > 0 && other.calibration.reached_memory > 0;
  return KernelPeaks(gpu, has_compute ? own.reached_compute : 1,
                     has_memory ? own.reached_memory : 1);
}

double KernelPeaks::ComputeUs(double flops, KernelUnit unit) const {
  return flops / flops_per_us_[static_cast<size_t>(unit)];
}

}  // namespace astra
