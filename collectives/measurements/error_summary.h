// How far predictions are off, in numbers and as a text.

#ifndef COLLECTIVES_MEASUREMENTS_ERROR_SUMMARY_H_
#define COLLECTIVES_MEASUREMENTS_ERROR_SUMMARY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "collectives/measurements/measured_table.h"
#include "collectives/measurements/outcome.h"

namespace astra {

// Errors in percent. Percentiles are by nearest rank: the p-th of n errors is
// the one of rank ceil(p n / 100) in ascending order, so it is one of them, and
// the median of an even number is the lower of the two in the middle.
struct ErrorSummary {
  size_t num_rows = 0;  // The rest is 0 where this is.
  double median = 0;    // Signed: the bias.
  double median_abs = 0;
  double p90_abs = 0;
};
ErrorSummary SummarizeErrors(std::vector<double> errors);

// One line for each of: all rows, each grade, sizes of 1 MiB and more and those
// below, each source, GPU, collective, number of servers and GPUs, and decade
// of size. Rows of grade C and X have a line of their own and count nowhere
// else. Then how many rows were not predicted, by reason, and in how many the
// algorithm is the stated one.
//
// Requires what FormatComparison() does.
std::string FormatErrorSummary(const MeasuredTable& table,
                               absl::Span<const Outcome> outcomes);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_ERROR_SUMMARY_H_
