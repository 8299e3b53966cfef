#include "astra-core/pages/scatter_chart.h"

#include <algorithm>
#include <string>
#include <utility>

#include "astra-core/pages/line_chart.h"

namespace astra {

DrawnChart Draw(const ScatterPlot& plot, std::string_view others,
                std::string_view front, std::string_view label) {
  LineChart chart;
  chart.x = {.name = plot.x_name, .is_log = plot.is_log};
  chart.y = {.name = plot.y_name, .is_log = plot.is_log};
  if (plot.limit) chart.y_limit = ChartLimit{plot.limit->y, plot.limit->name};
  chart.has_dots = true;
  chart.has_numbers = false;
  ChartLine beaten = {std::string(others), {}, LineJoin::kNone};
  ChartLine best = {std::string(front), {}, LineJoin::kSteps};
  for (const ScatterPoint& point : plot.points) {
    ChartLine& line = point.is_on_front ? best : beaten;
    line.points.push_back({.x = point.x,
                           .y = point.y,
                           .mark = point.is_on_front ? point.mark : "",
                           .title = point.title});
  }
  std::sort(best.points.begin(), best.points.end(),
            [](const LinePoint& a, const LinePoint& b) {
              return std::pair(a.x, a.y) < std::pair(b.x, b.y);
            });
  for (ChartLine* line : {&beaten, &best}) {
    if (!line->points.empty()) chart.lines.push_back(std::move(*line));
  }
  return Draw(chart, label);
}

}  // namespace astra
