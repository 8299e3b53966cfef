// Parts of a whole, as a pie with a table of its slices.

#ifndef ASTRA_CORE_PAGES_PIE_CHART_H_
#define ASTRA_CORE_PAGES_PIE_CHART_H_

#include <string>
#include <string_view>
#include <vector>

#include "astra-core/pages/drawn_chart.h"

namespace astra {

struct PieSlice {
  std::string name;
  double size = 0;                 // In any unit; the slices add up to the pie.
  std::vector<std::string> cells;  // Cells of its row in the table.
};

struct PieChart {
  std::vector<PieSlice> slices;
  std::vector<std::string> columns;  // Heads of the cells in the table.
};

// Returns the pie. `label` says in words what it shows, and names its table,
// which ends with the share of each slice in percent.
DrawnChart Draw(const PieChart& chart, std::string_view label);

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_PIE_CHART_H_
