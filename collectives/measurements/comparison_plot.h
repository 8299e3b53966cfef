// A plot of predicted and measured times.

#ifndef COLLECTIVES_MEASUREMENTS_COMPARISON_PLOT_H_
#define COLLECTIVES_MEASUREMENTS_COMPARISON_PLOT_H_

#include <cstddef>
#include <string>

#include "absl/types/span.h"
#include "collectives/measurements/measured_table.h"
#include "collectives/measurements/outcome.h"

namespace astra {

// More would make a file that no viewer opens; the rest is left out, and the
// title of the page says so.
constexpr size_t kMaxPlotPanels = 500;

// A page (svg_plot.h) with a panel for each source, GPU, number of servers and
// GPUs, and collective, in the order of the table: time over size, measured as
// circles, predicted as lines, a colour for each text in the column env.
//
// Requires what FormatComparison() does.
std::string PlotComparison(const MeasuredTable& table,
                           absl::Span<const Outcome> outcomes);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_COMPARISON_PLOT_H_
