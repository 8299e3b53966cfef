// Draws a plot of points and their Pareto front as a chart of a page.

#ifndef ASTRA_CORE_PAGES_SCATTER_CHART_H_
#define ASTRA_CORE_PAGES_SCATTER_CHART_H_

#include <string_view>

#include "astra-core/pages/drawn_chart.h"
#include "astra-core/pages/scatter_plot.h"

namespace astra {

// Returns the plot without a table of its numbers. Points of the front have
// their marks beside them and are joined by steps, by rising x. `others` and
// `front` name the two sorts of points; `label` says in words what the chart
// shows.
DrawnChart Draw(const ScatterPlot& plot, std::string_view others,
                std::string_view front, std::string_view label);

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_SCATTER_CHART_H_
