// stages.csv in the folder of a plan: see stages_table.h.

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_STAGES_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_STAGES_H_

#include "absl/status/statusor.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/base/files.h"
#include "astra-core/planner/layout.h"

namespace astra {

// Runs the iteration of `layout` once more, with a timeline, and returns
// stages.csv. Errors: those of RunLayout.
absl::StatusOr<NamedFile> StagesFile(const SimaiPlannerOptions& options,
                                     const Layout& layout);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_PLAN_STAGES_H_
