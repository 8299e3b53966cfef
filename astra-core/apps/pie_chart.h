// Draws a pie chart with a table of its slices, as a page that needs no other
// file.

#ifndef ASTRA_CORE_APPS_PIE_CHART_H_
#define ASTRA_CORE_APPS_PIE_CHART_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace astra {

struct PieSlice {
  std::string name;
  double size = 0;                 // In any unit; the slices add up to the pie.
  std::vector<std::string> cells;  // Cells of its row in the table.
};

// Returns the page `title` in `language`, such as "en", with `caption` under
// the title. Its colours are kChartColours.
std::string PieChart(std::string_view title, std::string_view caption,
                     std::string_view language,
                     absl::Span<const PieSlice> slices);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PIE_CHART_H_
