// Plots predicted and measured times.

#ifndef COLLECTIVES_MEASUREMENTS_COMPARISON_PLOT_H_
#define COLLECTIVES_MEASUREMENTS_COMPARISON_PLOT_H_

#include <cstddef>
#include <string>

#include "absl/types/span.h"
#include "collectives/measurements/measured_table.h"
#include "collectives/measurements/outcome.h"

namespace astra {

// Largest number of panels. More would make a file that no viewer opens.
// Further panels are left out, and the title of the page says so.
constexpr size_t kMaxPlotPanels = 500;

// Returns a page (svg_plot.h) with a panel for each source, GPU, number of
// servers and GPUs, and collective, in the order of the table. A panel shows
// time over size: measured times are circles and predicted times lines, in a
// colour for each text of the column env.
//
// Has the requirements of FormatComparison().
std::string PlotComparison(const MeasuredTable& table,
                           absl::Span<const Outcome> outcomes);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_COMPARISON_PLOT_H_
