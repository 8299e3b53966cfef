#include "astra-core/pages/scatter_plot.h"

#include <algorithm>

namespace astra {
namespace {

AxisTicks TicksOf(bool is_log, double low, double high, int steps) {
  return is_log ? LogTicks(low, high) : RoundTicks(low, high, steps);
}

}  // namespace

PlotAxes AxesOf(const ScatterPlot& plot, int steps_across, int steps_up) {
  const auto [left, right] = std::minmax_element(
      plot.points.begin(), plot.points.end(),
      [](const ScatterPoint& a, const ScatterPoint& b) { return a.x < b.x; });
  const auto [low, high] = std::minmax_element(
      plot.points.begin(), plot.points.end(),
      [](const ScatterPoint& a, const ScatterPoint& b) { return a.y < b.y; });
  const double top = plot.limit ? std::max(high->y, plot.limit->y) : high->y;
  return {TicksOf(plot.is_log, left->x, right->x, steps_across),
          TicksOf(plot.is_log, low->y, top, steps_up)};
}

}  // namespace astra
