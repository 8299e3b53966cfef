// Draws a matrix of traffic between ranks as a table and as a picture.

#ifndef ASTRA_CORE_APPS_PLAN_HEAT_MAP_H_
#define ASTRA_CORE_APPS_PLAN_HEAT_MAP_H_

#include <string>
#include <string_view>

#include "astra-core/planner/internevo/evo_traffic.h"

namespace astra {

// Returns the matrix as CSV: a line for each sender, a column for each
// receiver, in bytes.
std::string TrafficCsv(const TrafficMatrix& matrix);

// Returns a self-contained SVG file. Cells are darker for more bytes, on a
// logarithmic scale over six decades. Beyond 128 ranks a cell is a square of
// several ranks, with the bytes of all their pairs.
std::string TrafficSvg(std::string_view title, const TrafficMatrix& matrix);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_HEAT_MAP_H_
