// Answers how far a job can be taken: the fewest GPUs it fits on, the largest
// micro-batch, and the largest batch of the best plan's layout.

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_LIMITS_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_LIMITS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/plan/plan_change.h"
#include "astra-core/apps/plan/simai_planner_options.h"

namespace astra {

inline constexpr int64_t kMostMicroBatch = 1 << 16;

// Returns the answer for the fewest GPUs, with the same batch. `changes` are
// those of PlanWhatIf(), which halves the GPUs until nothing fits. Between the
// last two of these lie numbers that are legal: whole servers, where there are
// several, with parallel sizes that divide the number and the batch. The least
// of them that fits is the answer; where there are many, bisection comes first,
// which takes for granted that more GPUs fit if fewer do.
//
// Errors: those of PlanWith.
absl::StatusOr<WhatIf> FewestGpus(const SimaiPlannerOptions& options,
                                  absl::Span<const WhatIf> changes);

// Returns the answer for the largest micro-batch with which any layout fits. It
// is the largest divisor of the batch that fits, and replaces the micro-batches
// of the space. Where the whole batch fits at once, the answer is the largest
// batch that does, by bisection up to kMostMicroBatch.
//
// Errors: those of PlanWith.
absl::StatusOr<WhatIf> LargestMicroBatch(const SimaiPlannerOptions& options);

// Returns the answer for the largest batch of a layout that fits: as many
// micro-batches as now, of the largest size that fits, by bisection. More of
// them would fit, too: but for GPipe, a stage holds no more than a few at once.
//
// Errors: those of RunLayout.
absl::StatusOr<WhatIf> LargestBatchOf(const SimaiPlannerOptions& options,
                                      const Layout& layout);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_PLAN_LIMITS_H_
