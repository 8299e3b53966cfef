// The frame that all plots share: an SVG of 780 by 440 units with axes, ticks
// and names.

#ifndef ASTRA_CORE_PAGES_PLOT_AXES_H_
#define ASTRA_CORE_PAGES_PLOT_AXES_H_

#include <string>
#include <string_view>

#include "astra-core/pages/axis_ticks.h"

namespace astra {

// The edges of the plane, in units of the SVG.
inline constexpr double kPlotLeft = 80;
inline constexpr double kPlotRight = 745;
inline constexpr double kPlotTop = 15;
inline constexpr double kPlotBottom = 385;

struct PlotAxes {
  AxisTicks across;
  AxisTicks up;

  // Return the place of a value in units of the SVG.
  double XOf(double value) const;
  double YOf(double value) const;
};

// Returns the tag that begins the SVG. `label` says in words what it shows.
std::string PlotBegin(std::string_view label);

// Appends the ticks and the names of both axes.
void AppendPlotAxes(const PlotAxes& axes, std::string_view x_name,
                    std::string_view y_name, std::string* svg);

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_PLOT_AXES_H_
