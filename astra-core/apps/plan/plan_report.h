// Writes what a plan search found: a table for the screen, CSV, JSON, and for
// the best plans the commands that run and launch them.

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_REPORT_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_REPORT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "astra-core/apps/plan/plan_run.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/base/files.h"
#include "astra-core/planner/plan_search.h"

namespace astra {

// The best plans that have a folder of their own.
inline constexpr size_t kPlanFolders = 5;

// Returns what was planned: "llama3-8b on 16 h100-sxm, dgx-h100".
std::string PlanTitle(const SimaiPlannerOptions& options);

// Returns the terms by which `plan` differs most from the best, such as
// "bubble +0.41 s, exposed TP -0.12 s".
std::string DescribeDifferences(const Plan& plan, const Plan& best);

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
