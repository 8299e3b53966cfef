// Writes the results of a comparison: predicted beside measured times.

#ifndef COLLECTIVES_MEASUREMENTS_COMPARISON_H_
#define COLLECTIVES_MEASUREMENTS_COMPARISON_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/files.h"
#include "collectives/measurements/measured_table.h"
#include "collectives/measurements/outcome.h"

namespace astra {

// Returns the table with the columns predicted_us, error_pct (two decimals),
// algorithm, protocol and status after its own, which stay unchanged. Columns
// of the table with one of these names are left out, because they are from an
// earlier comparison. predicted_us and error_pct are empty where the status is
// not "ok".
//
// Requires an outcome for each row. Only rows without a problem may be ok.
std::string FormatComparison(const MeasuredTable& table,
                             absl::Span<const Outcome> outcomes);

// Returns the files of a comparison: comparison.csv from FormatComparison();
// comparison.svg, which draws times over sizes (comparison_plot.h); and
// summary.txt, which lists the errors (error_summary.h). Has the requirements
// of FormatComparison().
std::vector<NamedFile> ComparisonFiles(const MeasuredTable& table,
                                       absl::Span<const Outcome> outcomes);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_COMPARISON_H_
