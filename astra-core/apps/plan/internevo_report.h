// Writes what InternEvo's way of planning found, under the names that
// InternEvo's simulator prints: times in ms, and memory in GB of 2^30 bytes.

#ifndef ASTRA_CORE_APPS_PLAN_INTERNEVO_REPORT_H_
#define ASTRA_CORE_APPS_PLAN_INTERNEVO_REPORT_H_

#include <string>

#include "astra-core/apps/plan/internevo_profile.h"
#include "astra-core/apps/plan/internevo_request.h"
#include "astra-core/planner/internevo/evo_search.h"

namespace astra {

// Returns the page for the screen: the counts, the best solutions, the best of
// each mode, the linear models of the tables that the best one reads, and all
// fields of the best one. With a layout to be priced, only its fields.
std::string DescribeEvo(const EvoRequest& request, const EvoSearchResult& found,
                        const PreparedProfile& prepared,
                        const EvoCluster& cluster);

// Returns solutions.csv: a line for each solution, with all fields.
std::string EvoSolutionsCsv(const EvoRequest& request,
                            const EvoSearchResult& found);

// Returns best.json: all fields of the best solution, and of the best of each
// mode.
std::string EvoBestJson(const EvoRequest& request,
                        const EvoSearchResult& found);

// Returns run.json, from which a sweep reads the metrics of the best solution.
std::string EvoRunJson(const EvoRequest& request, const EvoSearchResult& found);

// Returns the layout in one line: "isp pp 1 sp 1 wp 8 zp 2, micro_bsz 4 x
// micro_num 4, ckpt 0".
std::string DescribeEvoLayout(const EvoLayout& layout);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_INTERNEVO_REPORT_H_
