// Lines and points in a plane: quantities over time, distributions, curves of
// one quantity over another, and Pareto fronts among points.
//
//   charts.Add(Draw(LineChart{.x = {.name = "time s", .from_zero = true},
//                             .y = {.name = "sequences", .from_zero = true},
//                             .lines = {{"running", {{0, 4}, {1, 5}}}}},
//                   "Running sequences over time"));

#ifndef ASTRA_CORE_PAGES_LINE_CHART_H_
#define ASTRA_CORE_PAGES_LINE_CHART_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/pages/drawn_chart.h"

namespace astra {

struct LinePoint {
  double x = 0;
  double y = 0;
  std::string mark = {};   // Text beside the point.
  std::string title = {};  // What the point is; empty: its line and numbers.
};

// How the points of a line are joined.
enum class LineJoin : uint8_t {
  kStraight,
  kSteps,  // Along the x axis to the next point, and then up or down.
  kNone,   // Not at all: they are dots that stand back behind the others.
};

struct ChartLine {
  std::string name;
  std::vector<LinePoint> points;  // Joined in this order.
  LineJoin join = LineJoin::kStraight;
};

// The axis of a quantity.
struct ChartAxis {
  std::string name;        // With the unit.
  bool is_log = false;     // Equal ratios are equally long; requires x > 0.
  bool from_zero = false;  // Shows 0, whatever the numbers are.
};

// A line across the whole chart at one place of an axis.
struct ChartLimit {
  double at = 0;
  std::string name;
};

struct LineChart {
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartLine> lines;
  std::optional<ChartLimit> x_limit;  // A chart has at most one limit.
  std::optional<ChartLimit> y_limit;
  bool has_dots = false;    // Points are drawn, not only lines between them.
  bool has_numbers = true;  // False if a table of the page has the numbers.
};

// Returns the chart. `label` says in words what it shows, and names its table.
DrawnChart Draw(const LineChart& chart, std::string_view label);

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_LINE_CHART_H_
