// A plot of points in a plane, some of which form a Pareto front. Smaller is
// better on both axes.

#ifndef ASTRA_CORE_PAGES_SCATTER_PLOT_H_
#define ASTRA_CORE_PAGES_SCATTER_PLOT_H_

#include <optional>
#include <string>
#include <vector>

namespace astra {

struct ScatterPoint {
  double x = 0;
  double y = 0;
  bool is_on_front = false;
  std::string mark;   // Name of the point, such as "1".
  std::string title;  // What the point is, for readers who point at it.
};

struct ScatterLimit {
  double y = 0;
  std::string name;
};

struct ScatterPlot {
  std::string x_name;  // With the unit.
  std::string y_name;
  std::vector<ScatterPoint> points;
  std::optional<ScatterLimit> limit;  // A line across the plot.
  bool is_log = false;                // Both axes are logarithmic.
};

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_SCATTER_PLOT_H_
