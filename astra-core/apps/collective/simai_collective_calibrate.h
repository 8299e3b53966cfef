// Fits the constants of a system to measurements, for --calibrate of
// simai_collective.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_CALIBRATE_H_
#define ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_CALIBRATE_H_

#include "absl/status/statusor.h"
#include "astra-core/apps/collective/simai_collective_options.h"
#include "astra-core/apps/collective/simai_collective_output.h"

namespace astra {

// Fits the constants of the system to what calibration_source.h reads. The
// report has the system with the fitted constants, and warns of few rows and of
// sizes that occur more than once.
//
// Requires the task kCalibrate.
//
// Errors: those of ReadCalibrationSource; those of Calibrate after the name of
// the source.
absl::StatusOr<CollectiveReport> ReportCalibration(
    const SimaiCollectiveOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_CALIBRATE_H_
