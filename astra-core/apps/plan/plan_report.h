// Writes what a plan search found: a table for the screen, CSV, JSON, and for
// the best plans the commands that run and launch them.

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_REPORT_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_REPORT_H_

#include <string>
#include <vector>

#include "astra-core/apps/plan/plan_run.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/base/files.h"
#include "astra-core/planner/plan_search.h"

namespace astra {

// Returns the page for the screen: how many layouts there were and why others
// are not in the table, the best plans, and which terms make the others slower.
std::string DescribePlans(const SimaiPlannerOptions& options,
                          const SearchResult& search, const PlanRuns& runs);

// Returns plans.csv: a line for each plan whose whole iteration was run.
std::string PlansCsv(const SimaiPlannerOptions& options,
                     const std::vector<Plan>& plans);

// Returns plan.json.
std::string PlanJson(const SimaiPlannerOptions& options,
                     const SearchResult& search, const PlanRuns& runs);

// Returns run.json, from which a sweep reads the metrics of the best plan.
std::string PlannerRunJson(const SimaiPlannerOptions& options,
                           const std::vector<Plan>& plans);

// Returns the files of the folder of one plan: commands.sh, which generates,
// estimates and simulates it, and those of LaunchFiles.
std::vector<NamedFile> PlanFiles(const SimaiPlannerOptions& options,
                                 const Plan& plan);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_PLAN_REPORT_H_
