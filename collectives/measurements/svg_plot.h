// Small plots on logarithmic axes, many on one page, as a file that needs
// nothing else (SVG 1.1). Equal plots give equal text.

#ifndef COLLECTIVES_MEASUREMENTS_SVG_PLOT_H_
#define COLLECTIVES_MEASUREMENTS_SVG_PLOT_H_

#include <string>
#include <vector>

#include "absl/types/span.h"

namespace astra {

struct PlotPoint {
  double x = 0;  // Above 0, as is y; others are left out.
  double y = 0;
};

// A circle for each of `dots`, a line through `line` in the order given, both
// in one colour. The name is shown below the panel.
struct PlotSeries {
  std::string name;
  std::vector<PlotPoint> dots;
  std::vector<PlotPoint> line;
};

struct PlotPanel {
  std::vector<std::string> title;  // Its lines.
  std::string x_label;             // With the unit.
  std::string y_label;
  std::vector<PlotSeries> series;
};

// A page of panels, four in a row, in their order. Axes span whole decades, and
// in each panel their own. Long texts are cut; what is not ASCII becomes "?".
std::string FormatSvg(const std::string& title,
                      absl::Span<const PlotPanel> panels);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_SVG_PLOT_H_
