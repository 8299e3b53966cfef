// Changes one option of a plan, as if the user had typed another value, and
// plans again.

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_CHANGE_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_CHANGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/apps/plan/plan_run.h"
#include "astra-core/apps/plan/simai_planner_options.h"

namespace astra {

// Returns the options of the search with `value` for option `name`. Errors:
// those of ReadSimaiPlannerOptions.
absl::StatusOr<SimaiPlannerOptions> WithOption(
    const SimaiPlannerOptions& options, std::string_view name,
    const std::string& value);

struct WhatIf {
  std::string change;  // Such as "256 GPUs".
  int64_t num_gpus = 0;
  std::string layout;  // Of the best plan, in words.
  // The best plan; none: `why_not`.
  std::optional<Plan> best;
  std::string why_not;
  bool is_of_gpus = false;   // Only the number of GPUs differs, if anything.
  bool is_on_front = false;  // No fewer GPUs are as fast, if is_of_gpus.
};

// Plans with `value` for `option`. A value that the options or the cluster do
// not allow is told in the result.
//
// Errors: those of the programs.
absl::StatusOr<WhatIf> PlanWith(const SimaiPlannerOptions& options,
                                std::string_view option,
                                const std::string& value, std::string change);

// Returns the error for a search that found no legal layout: the rule that the
// candidates nearest to being legal break, and the nearest value of one of the
// options with which there is a legal layout, if changing one is enough.
absl::Status NothingIsLegal(const SimaiPlannerOptions& options,
                            const SearchResult& search);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_PLAN_CHANGE_H_
