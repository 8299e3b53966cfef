// Compares predictions of simai_collective with measurements.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_COMPARE_H_
#define ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_COMPARE_H_

#include "absl/status/statusor.h"
#include "astra-core/apps/collective/simai_collective_options.h"
#include "astra-core/apps/collective/simai_collective_output.h"

namespace astra {

// --compare reads a log of nccl-tests and predicts it on the system of the
// command line; see simai_collective_log.h.
//
// --compare-table predicts each row of a table of measurements on the cluster
// that the row names. With --system, it predicts only the rows that were
// measured on the links of that system, with the constants of that system. A
// row that cannot be predicted is no error; the files say why.
//
// Requires one of these tasks.
//
// Errors: those of the readers, ReadLoggedRun and LoadSystem.
absl::StatusOr<CollectiveReport> ReportComparison(
    const SimaiCollectiveOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_COMPARE_H_
