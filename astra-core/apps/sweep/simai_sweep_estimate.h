// Carries out `simai_sweep run --dry-run`: says what would run, what would not,
// and how long it may take.

#ifndef ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_ESTIMATE_H_
#define ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_ESTIMATE_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "astra-core/apps/sweep/simai_sweep_options.h"
#include "astra-core/apps/sweep/simai_sweep_plan.h"

namespace astra {

// Prints every point with its state, every combination that is left out with
// its rule, and an estimate of the cost. The estimate is made from the points
// that have run, if any. Otherwise kProbes points, spread over the sweep, run
// in a temporary folder for at most kProbeSeconds each. Nothing else is
// written. Returns the exit code: 1 if one of these points failed or has no
// number for an objective, else 0.
//
// Errors: those of the store and of running points.
absl::StatusOr<int> DryRun(const PlannedSweep& plan,
                           const SweepRunOptions& options);

constexpr size_t kProbes = 4;
constexpr int kProbeSeconds = 10;

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_ESTIMATE_H_
