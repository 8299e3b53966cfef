// Takes the start and the end of a kernel off operators that an engine of
// inference computes within the kernel before them. Such an operator takes the
// time of its bytes only:
//
//   time = max(0, time alone - kernel_us)

#ifndef WORKLOAD_OPERATORS_FUSED_KERNELS_H_
#define WORKLOAD_OPERATORS_FUSED_KERNELS_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace astra {

struct FusedKernels {
  std::vector<std::string> names;  // Operators; ServingFacts::fused.
  double kernel_us = 0;            // Start and end; Calibration::kernel_us.

  bool Has(std::string_view name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  // Returns the seconds of the operator `name`, which takes `alone` in a kernel
  // of its own.
  double SecondsOf(std::string_view name, double alone) const {
    constexpr double kSecondsPerUs = 1e-6;
    return Has(name) ? std::max(0.0, alone - kernel_us * kSecondsPerUs) : alone;
  }
};

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_FUSED_KERNELS_H_
