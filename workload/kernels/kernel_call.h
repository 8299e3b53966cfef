// Describes one kernel by its family, its precision and its sizes.

#ifndef WORKLOAD_KERNELS_KERNEL_CALL_H_
#define WORKLOAD_KERNELS_KERNEL_CALL_H_

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace astra {

constexpr size_t kMaxKernelSizes = 7;
constexpr size_t kMaxKernelAxes = 2;
constexpr size_t kMaxKernelCoordinates = 5;
using KernelSizes = std::array<double, kMaxKernelSizes>;
using KernelPoint = std::array<double, kMaxKernelAxes>;
using KernelCoordinates = std::array<double, kMaxKernelCoordinates>;

struct KernelFamily;

// One kernel: what it works on, not where.
struct KernelCall {
  const KernelFamily* family = nullptr;
  // Words of the family's word columns, such as an element type.
  std::vector<std::string> words;
  KernelSizes sizes{};   // By position in KernelFamily::sizes.
  KernelPoint point{};   // By position in KernelFamily::axes.
  double past = 0;       // Positions before the new ones (prefill).
  std::string kernel{};  // Name of the kernel that runs; empty: not known.
};

}  // namespace astra

#endif  // WORKLOAD_KERNELS_KERNEL_CALL_H_
