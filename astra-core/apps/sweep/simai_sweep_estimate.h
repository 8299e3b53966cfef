// simai_sweep run --dry-run: what would run, what would not, and how long it
// may take.

#ifndef ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_ESTIMATE_H_
#define ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_ESTIMATE_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "astra-core/apps/sweep/simai_sweep_options.h"
#include "astra-core/apps/sweep/simai_sweep_plan.h"

namespace astra {

// Prints every point with its state, every combination that is left out with
// the rule, and an estimate of the cost: from the points that have run, if any;
// else from kProbes of them, spread over the sweep, that are run in a temporary
// folder for at most kProbeSeconds each. Writes nothing else. Returns the exit
// code: 1 where one of these failed or has no number for an objective, else 0.
//
// Errors: those of the store and of running points.
absl::StatusOr<int> DryRun(const PlannedSweep& plan,
                           const SweepRunOptions& options);

constexpr size_t kProbes = 4;
constexpr int kProbeSeconds = 10;

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_ESTIMATE_H_
