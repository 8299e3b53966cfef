// Runs the whole iteration of the layouts that a search found.

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_RUN_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_RUN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/plan/plan.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/planner/plan_search.h"

namespace astra {

struct PlanRuns {
  std::vector<Plan> plans;    // The fastest first.
  int64_t beyond_memory = 0;  // Layouts that did not fit after all.
};

// Searches the space of the options. Errors: those of Search, and of what reads
// the cluster.
absl::StatusOr<SearchResult> SearchLayouts(const SimaiPlannerOptions& options);

// Returns the memory of a layout, and whether it fits, without running it: the
// other figures are 0.
//
// Errors: those of RunLayout.
absl::StatusOr<Plan> MemoryOfLayout(const SimaiPlannerOptions& options,
                                    const Layout& layout);

// Runs a layout whether it fits into the memory or not.
//
// Errors: FailedPrecondition for a layout that breaks a rule; those of the
// programs.
absl::StatusOr<Plan> RunLayout(const SimaiPlannerOptions& options,
                               const Layout& layout);

// Runs the best layouts of `search` until as many as the options ask for have
// fitted into the memory, and the first of these with the closer fidelity.
//
// Errors: those of the programs.
absl::StatusOr<PlanRuns> RunPlans(const SimaiPlannerOptions& options,
                                  const SearchResult& search);

// Returns the bytes that a layout may allocate on a GPU, so that what PyTorch
// reserves and the driver takes fits, too.
int64_t UsableMemory(const GpuSpec& gpu);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_PLAN_RUN_H_
