// Plans the same job with other numbers of GPUs, other batches, other memory
// and other links, and asks how far it can be taken.

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_WHAT_IF_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_WHAT_IF_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/plan/plan_change.h"
#include "astra-core/apps/plan/plan_run.h"
#include "astra-core/apps/plan/simai_planner_options.h"

namespace astra {

// Returns first the job itself, whose best plan is `best` if any fits. Then
// plans the job with half and twice the global batch, and with three and five
// quarters of the memory. Without a topology file also with NICs of half and
// twice the rate and NVLink domains of twice the GPUs, where several of these
// bundled systems' servers are used; with twice the GPUs, and with ever fewer
// until nothing fits, and finds the fewest GPUs. Last come the largest
// micro-batch and the largest batch of the best plan; see plan_limits.h.
// Systems with other links are written to "what-if" in the folder of the
// results.
//
// Errors: those of the programs.
absl::StatusOr<std::vector<WhatIf>> PlanWhatIf(
    const SimaiPlannerOptions& options, const std::optional<Plan>& best);

// Returns the table for the screen, and the front of time against GPUs.
std::string DescribeWhatIf(const std::vector<WhatIf>& changes);

// Returns what_if.csv.
std::string WhatIfCsv(const std::vector<WhatIf>& changes);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_PLAN_WHAT_IF_H_
