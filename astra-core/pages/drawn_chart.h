// A chart as a page holds it: its part of the page's block of JSON, which
// charts.js draws, and the same numbers as a table.

#ifndef ASTRA_CORE_PAGES_DRAWN_CHART_H_
#define ASTRA_CORE_PAGES_DRAWN_CHART_H_

#include <string>

namespace astra {

struct DrawnChart {
  std::string json;     // One of the kinds of chart in charts.js.
  std::string numbers;  // HTML of the table; empty if the page has another one.
  bool is_open = false;  // Whether the table is seen at first.
};

// Significant digits of the numbers that charts are drawn of.
inline constexpr int kChartDigits = 9;

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_DRAWN_CHART_H_
