// Formats the comparison of a sweep as one self-contained HTML file. The page
// needs no network and no server.

#ifndef ASTRA_CORE_SWEEP_RESULTS_HTML_REPORT_H_
#define ASTRA_CORE_SWEEP_RESULTS_HTML_REPORT_H_

#include <string>

#include "astra-core/sweep/results/sweep_table.h"

namespace astra {

// Returns a page with
//
//   - the best configuration, its breakdown of time and its commands;
//   - a table of all rows that sorts by any column and filters by the values of
//     each axis and by state;
//   - a heat map of any metric over any two axes (best row of each cell);
//   - the Pareto front of any two metrics;
//   - the failed points with their reasons.
//
// Filters apply to all of these. Infeasible points appear only in the table.
// Repeats are merged. Without JavaScript the best rows are a plain table. The
// page does not show costs, so the same table always gives the same bytes.
std::string HtmlReport(const SweepTable& table);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_HTML_REPORT_H_
