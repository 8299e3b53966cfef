// The comparison of a sweep as one HTML file that needs nothing else: no
// network, no server.

#ifndef ASTRA_CORE_SWEEP_RESULTS_HTML_REPORT_H_
#define ASTRA_CORE_SWEEP_RESULTS_HTML_REPORT_H_

#include <string>

#include "astra-core/sweep/results/sweep_table.h"

namespace astra {

// A page with: the best configuration, its breakdown of time and its commands;
// a table of all rows that sorts by any column and filters by the values of
// each axis and by state; a heat map of any metric over any two axes (the best
// of the rows of a cell); the Pareto front of any two metrics. What the filters
// leave out is left out of all of these. Infeasible points are only in the
// table. Failed points are listed with their reasons. Repeats are merged.
// Without JavaScript the best rows are a table. The same table gives the same
// bytes; costs are not in it.
std::string HtmlReport(const SweepTable& table);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_HTML_REPORT_H_
