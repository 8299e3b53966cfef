// Compares predictions of simai_collective with measurements.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_COMPARE_H_
#define ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_COMPARE_H_

#include "absl/status/statusor.h"
#include "astra-core/apps/collective/simai_collective_options.h"
#include "astra-core/apps/collective/simai_collective_output.h"

namespace astra {

// --compare reads a log of nccl-tests and predicts it on the system of the
// command line. The log tells the collective, the ranks and servers, NCCL's
// version and whether it ran from a CUDA graph; the command line tells the
// rest.
//
// --calibrate fits the constants of the system to such a log. Rows without
// information are left out.
//
// --compare-table predicts each row of a table of measurements on the cluster
// that the row names. A row that cannot be predicted is no error; the files say
// why.
//
// Requires one of these tasks.
//
// Errors: those of the readers, BuildEstimator and Calibrate; InvalidArgument
// for a fact that neither or both of log and command line tell.
absl::StatusOr<CollectiveReport> ReportMeasurements(
    const SimaiCollectiveOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_COMPARE_H_
