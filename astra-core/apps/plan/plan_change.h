// Changes one option of a plan, as if the user had typed another value.

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_CHANGE_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_CHANGE_H_

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

// Returns the error for a search that found no legal layout: the rule that most
// candidates break, and the nearest value of one of the options with which
// there is a legal layout, if changing one is enough.
absl::Status NothingIsLegal(const SimaiPlannerOptions& options,
                            const SearchResult& search);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_PLAN_CHANGE_H_
