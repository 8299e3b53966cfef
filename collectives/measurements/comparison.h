// Predicted beside measured times: what a comparison writes.

#ifndef COLLECTIVES_MEASUREMENTS_COMPARISON_H_
#define COLLECTIVES_MEASUREMENTS_COMPARISON_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/files.h"
#include "collectives/measurements/measured_table.h"
#include "collectives/measurements/outcome.h"

namespace astra {

// The table with the columns predicted_us, error_pct (of two decimals),
// algorithm, protocol and status behind its own, which stay as they were.
// Columns of the table that have one of these names are left out: they are of
// an earlier comparison. The first two are empty where the status is not "ok".
//
// Requires an outcome for each row; one that is ok only of a row without a
// problem.
std::string FormatComparison(const MeasuredTable& table,
                             absl::Span<const Outcome> outcomes);

// The files of a comparison: comparison.csv, as above; comparison.svg, the
// times over the sizes (comparison_plot.h); summary.txt, the errors
// (error_summary.h). Requires the same.
std::vector<NamedFile> ComparisonFiles(const MeasuredTable& table,
                                       absl::Span<const Outcome> outcomes);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_COMPARISON_H_
