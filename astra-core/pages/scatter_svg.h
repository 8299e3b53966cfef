// Draws a plot as SVG within a page that has PageStyle().

#ifndef ASTRA_CORE_PAGES_SCATTER_SVG_H_
#define ASTRA_CORE_PAGES_SCATTER_SVG_H_

#include <string>
#include <string_view>

#include "astra-core/pages/scatter_plot.h"

namespace astra {

// Returns an <svg>. `label` says in words what it shows. Points of the front
// have their marks beside them and are joined by steps. Requires a
// point.
std::string ScatterSvg(const ScatterPlot& plot, std::string_view label);

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_SCATTER_SVG_H_
