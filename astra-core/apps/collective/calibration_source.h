// Reads what --calibrate fits a system to, from any of four sources.
//
// clang-format off
//   source                   recognized by          what else is needed
//   folder of simai_physical being a folder         nothing
//   lines of NCCL's inspector the first character   variables of NCCL
//   table of collectives     its columns            nothing
//   log of nccl-tests        anything else          what the log does not tell
// clang-format on
//
// measured_file.h tells the files apart, as it does for --measured.
//
// Calls of the inspector count with the shortest time of their ranks, whose
// kernels otherwise also wait for others. Of the inspector and of physical
// runs, where the same collective occurs many times, the median of each size
// counts once. The times of both contain no launch.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_CALIBRATION_SOURCE_H_
#define ASTRA_CORE_APPS_COLLECTIVE_CALIBRATION_SOURCE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/collective/simai_collective_options.h"
#include "astra-core/base/log.h"
#include "collectives/calibration/observations.h"
#include "collectives/systems/system_spec.h"

namespace astra {

// A system, what was measured on it, and warnings about what was left out.
struct CalibrationInput {
  SystemSpec system;
  std::vector<Observation> observations;  // At least one.
  Warnings warnings;
};

// Reads `options.measurements`.
//
// Errors: those of the readers, ReadLoggedRun and LoadSystem; InvalidArgument
// for an option that has no effect on such a source, a source without a
// collective that can be used, and a physical run on one server.
absl::StatusOr<CalibrationInput> ReadCalibrationSource(
    const SimaiCollectiveOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_CALIBRATION_SOURCE_H_
