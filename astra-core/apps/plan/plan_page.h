// plan.html: what a plan search found, as one page that needs no other file
// and no network.
//
//   the plans         the columns of plans.csv, with the same digits
//   the terms         a bar for each of the best, by where its time goes
//   time and memory   all plans, with those that no other beats in both
//   time and GPUs     the best plans of other numbers of GPUs, after --what-if
//   the rest          why others are slower, what was left out and by which
//                     rule, the changes of --what-if, and the commands of the
//                     first five

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_PAGE_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_PAGE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "astra-core/apps/plan/plan_change.h"
#include "astra-core/apps/plan/plan_run.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/planner/plan_search.h"

namespace astra {

// Plans in the table and the plot of the page, which stays below 2 MB. Others
// are in plans.csv.
inline constexpr size_t kMostPagePlans = 800;

// Returns the page. `conclusion` says what the search found, such as the best
// plan or that none fits; `changes` is empty without --what-if.
std::string PlanPage(const SimaiPlannerOptions& options,
                     const SearchResult& search, const PlanRuns& runs,
                     absl::Span<const WhatIf> changes,
                     std::string_view conclusion);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_PLAN_PAGE_H_
