// Plans the same job with other numbers of GPUs, other batches and other
// memory.

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_WHAT_IF_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_WHAT_IF_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/plan/plan_run.h"
#include "astra-core/apps/plan/simai_planner_options.h"

namespace astra {

struct WhatIf {
  std::string change;  // Such as "256 GPUs".
  int64_t num_gpus = 0;
  // The best plan; none: `why_not`.
  std::optional<Plan> best;
  std::string why_not;
};

// Plans the job with half and twice the GPUs (unless a topology file has their
// number), half and twice the global batch, and three and five quarters of the
// memory; then with ever fewer GPUs, until nothing fits.
//
// Errors: those of the programs.
absl::StatusOr<std::vector<WhatIf>> PlanWhatIf(
    const SimaiPlannerOptions& options);

// Returns the table for the screen.
std::string DescribeWhatIf(const std::vector<WhatIf>& changes);

// Returns what_if.csv.
std::string WhatIfCsv(const std::vector<WhatIf>& changes);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_PLAN_WHAT_IF_H_
