// A layout as the result files of simai_planner have it: the columns of
// plans.csv and the keys of plan.json.

#ifndef ASTRA_CORE_APPS_PLAN_LAYOUT_CELLS_H_
#define ASTRA_CORE_APPS_PLAN_LAYOUT_CELLS_H_

#include <string>

#include "astra-core/planner/layout.h"
#include "nlohmann/json.hpp"

namespace astra {

// Returns an object with a key for each column, in order.
nlohmann::ordered_json LayoutJson(const PlanJob& job, const Layout& layout);

// Returns the names of the columns, and the cells of a layout, with commas
// between them.
std::string LayoutColumns();
std::string LayoutCells(const PlanJob& job, const Layout& layout);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_LAYOUT_CELLS_H_
