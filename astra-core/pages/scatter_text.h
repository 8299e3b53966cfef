// Draws a plot with plain characters, for a terminal of 80 columns:
//
//   reserved GiB
//        80 +                                                    2
//           |  1                       3
//        60 +      5
//           +--------------------------------------------------------------
//            3.4                3.6                  3.8        iteration s

#ifndef ASTRA_CORE_PAGES_SCATTER_TEXT_H_
#define ASTRA_CORE_PAGES_SCATTER_TEXT_H_

#include <string>

#include "astra-core/pages/scatter_plot.h"

namespace astra {

inline constexpr int kScatterTextWidth = 80;
inline constexpr int kScatterTextHeight = 15;  // Lines.

// Returns the plot without its limit, on linear axes. A point is its mark if
// that is one character, or else "*" on the front and "." elsewhere. Of points
// in one place one with a mark is drawn, or else one of the front, or else the
// first. Requires a point.
std::string ScatterText(const ScatterPlot& plot);

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_SCATTER_TEXT_H_
