// Finds the layouts of a space that are fastest by LayoutEstimate, and counts
// the others by why they are not among them.
//
// The candidates are visited in an order of growing lower bounds (LeastSeconds)
// until no bound can come below the slowest of the best. That leaves out no
// layout that belongs to the best: the bound of a layout is at most its
// estimate. An exhaustive search estimates all, with the same result.

#ifndef ASTRA_CORE_PLANNER_PLAN_SEARCH_H_
#define ASTRA_CORE_PLANNER_PLAN_SEARCH_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/planner/group_seconds.h"
#include "astra-core/planner/layout.h"
#include "astra-core/planner/plan_space.h"
#include "workload/operators/compute_model.h"

namespace astra {

struct EstimatedLayout {
  Layout layout;
  double seconds = 0;
  int64_t bytes = 0;   // See EstimateMemory.
  int64_t number = 0;  // In the order of the space; ties go to the lower.
};

struct SearchOptions {
  size_t most = 100;         // Layouts to return.
  int64_t memory_bytes = 0;  // Of a GPU.
  bool exhaustive = false;
};

struct SearchResult {
  std::vector<EstimatedLayout> best;  // The fastest first.
  // Of all layouts whose memory was estimated, the one with the least, without
  // its seconds.
  EstimatedLayout least;
  // Numbers of candidates, which add up to the size of the space.
  int64_t estimated = 0;
  int64_t beyond_memory = 0;
  int64_t beyond_bound = 0;
  std::map<std::string, int64_t> illegal;  // By rule.
  // The rule that the candidates nearest to being legal break: the last one in
  // the order of PlanRule, and of several that are one PlanRule the one that
  // most break. It is empty if all candidates are legal.
  std::string last_rule;
};

// Searches `space`. `model` times operators alone, on the GPU of the job.
//
// Errors: those of GroupSeconds; an error of the model or the options that is
// no rule of a layout.
absl::StatusOr<SearchResult> Search(const PlanJob& job, const PlanSpace& space,
                                    const SearchOptions& options,
                                    const ComputeModel& model,
                                    GroupSeconds& groups);

// Returns the estimate of a legal layout, whether it fits or not.
//
// Errors: those of CostsOf, PipelineCuts and GroupSeconds.
absl::StatusOr<EstimatedLayout> EstimateLayout(const PlanJob& job,
                                               const Layout& layout,
                                               const ComputeModel& model,
                                               GroupSeconds& groups);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_PLAN_SEARCH_H_
