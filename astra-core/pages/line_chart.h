// Draws lines in a plane as SVG, within a page that has PageStyle(): quantities
// over time, distributions, curves of one quantity over another.
//
//   LineChartSvg({.x_name = "time s",
//                 .y_name = "sequences",
//                 .lines = {{"running", {{0, 4}, {1, 5}}}}},
//                "Running sequences over time")
//
// Each line has a colour and a pattern of dashes of its own, so that neither
// alone must tell them apart.

#ifndef ASTRA_CORE_PAGES_LINE_CHART_H_
#define ASTRA_CORE_PAGES_LINE_CHART_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace astra {

struct LinePoint {
  double x = 0;
  double y = 0;
  std::string mark = {};   // Stands beside the point; empty: nothing.
  std::string title = {};  // What the point is, for readers who point at it.
};

struct ChartLine {
  std::string name;
  std::vector<LinePoint> points;  // Joined in this order.
};

// A line up the whole chart.
struct ChartLimit {
  double x = 0;
  std::string name;
};

struct LineChart {
  std::string x_name;  // With the unit.
  std::string y_name;
  std::vector<ChartLine> lines;
  bool x_is_log = false;
  bool y_is_log = false;
  bool x_from_zero = false;  // The axis begins at 0, if it is not logarithmic.
  std::optional<ChartLimit> limit;
  bool has_dots = false;  // Points are drawn, not only lines between them.
};

// Returns the chart, and a legend if it has several lines. `label` says in
// words what it shows. Requires a point, and numbers above 0 on logarithmic
// axes. The y axis begins at 0 if it is not logarithmic.
std::string LineChartSvg(const LineChart& chart, std::string_view label);

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_LINE_CHART_H_
