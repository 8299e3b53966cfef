// The commands of simai_sweep that look at results: status, export, compare.

#ifndef ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_RESULTS_H_
#define ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_RESULTS_H_

#include "absl/status/statusor.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// How far a sweep is. Exit code 0 if all points finished but those with an
// illegal layout, and some did; 1 if not.
//
// Errors: InvalidArgument for what is no folder of a sweep; those of the store.
absl::StatusOr<int> SweepStatusCommand(const CommandLine& flags);

// The rows, for other programs; exit code 0.
absl::StatusOr<int> SweepExportCommand(const CommandLine& flags);

// Which points are best, or where two sweeps differ; exit code 0, or 1 where no
// point finished.
absl::StatusOr<int> SweepCompareCommand(const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_RESULTS_H_
