// Describes the element types that tables of kernels name, and the peaks of a
// GPU that bound kernels.

#ifndef WORKLOAD_KERNELS_KERNEL_ELEMENT_H_
#define WORKLOAD_KERNELS_KERNEL_ELEMENT_H_

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "workload/operators/gpu_spec.h"

namespace astra {

// The multiply units that a kernel may use.
enum class KernelUnit : uint8_t { kBf16, kFp8, kFp4, kInt8 };

struct KernelElement {
  std::string_view name;        // Name in tables, such as "fp8_block".
  double activation_bytes = 2;  // Bytes of an element with its scale.
  double weight_bytes = 2;
  KernelUnit unit = KernelUnit::kBf16;
  // Type whose share of the peaks is taken where this type was not measured;
  // empty: none.
  std::string_view like;
};

absl::Span<const KernelElement> KernelElements();

// Returns the type of that name, or nullptr.
const KernelElement* FindKernelElement(std::string_view name);

// Rates of a GPU. A unit that it lacks is replaced by the next wider one.
class KernelPeaks {
 public:
  // With shares of the peaks of computation and of the memory.
  explicit KernelPeaks(const GpuSpec& gpu, double compute_share = 1,
                       double memory_share = 1);

  // Microseconds of `flops` operations in `unit`, and of moving `bytes`.
  double ComputeUs(double flops, KernelUnit unit) const;
  double MemoryUs(double bytes) const { return bytes / bytes_per_us_; }

 private:
  double flops_per_us_[4] = {};  // By KernelUnit.
  double bytes_per_us_ = 0;
};

// Returns what kernels of `gpu` reach of its peaks, where both it and `other`
// say that, or else its peaks.
KernelPeaks ReachedPeaks(const GpuSpec& gpu, const GpuSpec& other);

}  // namespace astra

#endif  // WORKLOAD_KERNELS_KERNEL_ELEMENT_H_
