// Compares predicted times of kernels with measured ones.

#ifndef ASTRA_CORE_APPS_FIT_SIMAI_FIT_COMPARE_H_
#define ASTRA_CORE_APPS_FIT_SIMAI_FIT_COMPARE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "astra-core/apps/fit/simai_fit_options.h"
#include "workload/kernels/kernel_table.h"

namespace astra {

struct KernelComparison {
  // The columns of the table, then
  //
  //   predicted_ms  empty where nothing is near the row
  //   error_pct     (predicted / measured - 1) in percent; empty without either
  //   status        "ok: SOURCE", where SOURCE is how the time was found
  //                 (DescribeSource), or why there is no time or no error
  std::string csv;
  // Errors in all, by the words of the rows, and by source; then how many rows
  // have none, by reason.
  std::string summary;
  size_t num_rows = 0;
};

// Compares a table with what `predictor` says.
KernelComparison CompareKernels(const KernelTable& table,
                                const KernelPredictor& predictor);

// Does what the options ask for. Errors: those of ReadKernelTable and
// SurfacesOf.
absl::StatusOr<KernelComparison> CompareKernelTable(
    const SimaiFitOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_FIT_SIMAI_FIT_COMPARE_H_
