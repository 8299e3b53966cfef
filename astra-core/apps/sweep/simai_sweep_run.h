// Commands of simai_sweep that run points: run, resume and retry.

#ifndef ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_RUN_H_
#define ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_RUN_H_

#include "absl/status/statusor.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// Each command returns the exit code: 0 if every point of the sweep finished or
// has an illegal layout, 1 if some failed or were left, 130 or 143 if SIGINT or
// SIGTERM stopped it.
//
// Errors: those of planning, of the store and of the scheduler; Aborted if the
// layouts of all points are illegal.
absl::StatusOr<int> SweepRunCommand(const CommandLine& flags);
absl::StatusOr<int> SweepResumeCommand(const CommandLine& flags);
absl::StatusOr<int> SweepRetryCommand(const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_RUN_H_
