// Bars that consist of parts, such as where the time of each plan goes.
//
//   charts.Add(Draw(BarChart{.parts = kTerms, .bars = bars, .unit = "s"},
//                   "Where the time of each plan goes"));

#ifndef ASTRA_CORE_PAGES_BAR_CHART_H_
#define ASTRA_CORE_PAGES_BAR_CHART_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/pages/drawn_chart.h"

namespace astra {

struct BarPart {
  std::string_view name;
  std::string_view colour;  // Such as "#0072b2".
};

struct StackedBar {
  std::string name;
  std::vector<double> parts;  // Size of each part, in the unit of the chart.
  std::string whole;          // Text that stands behind the bar.
};

struct BarChart {
  absl::Span<const BarPart> parts;
  absl::Span<const StackedBar> bars;
  std::string_view unit;
  int decimals = 6;  // Digits after the point in the table.
};

// Returns the bars on one scale, with the parts that occur. `label` says in
// words what the chart shows, and names its table.
DrawnChart Draw(const BarChart& chart, std::string_view label);

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_BAR_CHART_H_
