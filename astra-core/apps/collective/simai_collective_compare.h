// Predictions of simai_collective beside measurements.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_COMPARE_H_
#define ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_COMPARE_H_

#include "absl/status/statusor.h"
#include "astra-core/apps/collective/simai_collective_options.h"
#include "astra-core/apps/collective/simai_collective_output.h"

namespace astra {

// --compare: a log of nccl-tests, on the system of the command line. The log
// tells the collective, the ranks and servers, NCCL's version and whether it
// ran from a CUDA graph; the command line, what the log does not.
//
// --calibrate: the constants of the system fitted to such a log. Rows that say
// nothing are left out.
//
// --compare-table: a table of measurements, each row on what it says it ran on.
// A row that cannot be predicted is no error; the files say why.
//
// Requires one of these tasks.
//
// Errors: those of the readers, BuildEstimator and Calibrate; InvalidArgument
// for what neither log nor command line tells, or both.
absl::StatusOr<CollectiveReport> ReportMeasurements(
    const SimaiCollectiveOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_COMPARE_H_
