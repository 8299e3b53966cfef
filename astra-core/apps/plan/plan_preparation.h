// Makes the program of a layout and computes its memory, and finds the full
// recomputation with which a program just fits into the memory.

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_PREPARATION_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_PREPARATION_H_

#include "absl/status/statusor.h"
#include "astra-core/apps/plan/plan.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/planner/plan_search.h"
#include "workload/program.h"

namespace astra {

struct PreparedPlan {
  Plan plan;  // Without its times.
  Program program;
};

// Errors: those of GenerateProgram.
absl::StatusOr<PreparedPlan> PreparePlan(const SimaiPlannerOptions& options,
                                         const EstimatedLayout& estimate);

// Like PreparePlan. But if the program does not fit and the options search for
// the recomputation that just fits, a layout without recomputation, or of too
// few layers, gets the least number of layers with which its program fits. Such
// a plan has no `estimate.seconds`. If no number fits, or all layers do and are
// a choice of their own, the plan stays as it is.
absl::StatusOr<PreparedPlan> PrepareFittingPlan(
    const SimaiPlannerOptions& options, const EstimatedLayout& estimate);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_PLAN_PREPARATION_H_
