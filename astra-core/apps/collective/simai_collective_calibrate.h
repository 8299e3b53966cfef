// Fits the constants of a system to measurements, for --calibrate and
// --calibrate-table of simai_collective.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_CALIBRATE_H_
#define ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_CALIBRATE_H_

#include "absl/status/statusor.h"
#include "astra-core/apps/collective/simai_collective_options.h"
#include "astra-core/apps/collective/simai_collective_output.h"

namespace astra {

// --calibrate fits the constants of the system to a log of nccl-tests.
// --calibrate-table fits them to the rows of a table that were measured on the
// links of the system. Rows that cannot be used are left out. The report has
// the system with the fitted constants, and warns of few rows and of sizes that
// occur more than once.
//
// Requires one of these tasks.
//
// Errors: those of the readers, ReadLoggedRun and LoadSystem; those of
// Calibrate after the name of the file; InvalidArgument for a table without a
// row of the system.
absl::StatusOr<CollectiveReport> ReportCalibration(
    const SimaiCollectiveOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_CALIBRATE_H_
