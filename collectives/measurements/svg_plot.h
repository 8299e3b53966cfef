// Draws small plots on logarithmic axes, many on one page, as a self-contained
// SVG 1.1 file. Equal plots give equal text.

#ifndef COLLECTIVES_MEASUREMENTS_SVG_PLOT_H_
#define COLLECTIVES_MEASUREMENTS_SVG_PLOT_H_

#include <string>
#include <vector>

#include "absl/types/span.h"

namespace astra {

struct PlotPoint {
  double x = 0;  // x and y must be above 0 to be shown.
  double y = 0;
};

// A circle for each of `dots`, and a line through `line` in the given order,
// both in one colour. The name is shown below the panel.
struct PlotSeries {
  std::string name;
  std::vector<PlotPoint> dots;
  std::vector<PlotPoint> line;
};

struct PlotPanel {
  std::vector<std::string> title;  // Lines of the title.
  std::string x_label;             // Label with its unit.
  std::string y_label;
  std::vector<PlotSeries> series;
};

// Returns a page of panels, four in a row, in the given order. In each panel
// the axes span whole decades of its own points. Long texts are cut, and
// characters beyond ASCII become "?".
std::string FormatSvg(const std::string& title,
                      absl::Span<const PlotPanel> panels);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_SVG_PLOT_H_
