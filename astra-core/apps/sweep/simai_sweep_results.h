// Commands of simai_sweep that show results: status, export, compare.

#ifndef ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_RESULTS_H_
#define ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_RESULTS_H_

#include "absl/status/statusor.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// Shows how far a sweep is. The exit code is 0 if at least one point finished
// and every other point finished or has an illegal layout, and 1 otherwise.
//
// Errors: InvalidArgument if the operand is not the folder of a sweep; the
// errors of the store.
absl::StatusOr<int> SweepStatusCommand(const CommandLine& flags);

// Writes the rows of results for other programs. The exit code is 0.
absl::StatusOr<int> SweepExportCommand(const CommandLine& flags);

// Shows which points are best, or where two sweeps differ. The exit code is 0,
// or 1 if no point finished.
absl::StatusOr<int> SweepCompareCommand(const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_RESULTS_H_
