// Summarizes the errors of predictions, in numbers and as text.

#ifndef COLLECTIVES_MEASUREMENTS_ERROR_SUMMARY_H_
#define COLLECTIVES_MEASUREMENTS_ERROR_SUMMARY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "collectives/measurements/measured_table.h"
#include "collectives/measurements/outcome.h"

namespace astra {

// Errors in percent. Percentiles are by nearest rank: the p-th percentile of n
// errors is the error of rank ceil(p n / 100) in ascending order. The median of
// an even number is the lower of the two in the middle.
struct ErrorSummary {
  size_t num_rows = 0;  // If 0, all other fields are 0.
  double median = 0;    // Signed: the bias.
  double median_abs = 0;
  double p90_abs = 0;
};
ErrorSummary SummarizeErrors(std::vector<double> errors);

// Returns one line for each of: all rows, each grade, sizes of at least 1 MiB
// and smaller ones, each source, GPU, collective, number of servers and GPUs,
// and decade of size. Rows of grade C and X have a line of their own and count
// nowhere else. Further lines say how many rows were not predicted, by reason,
// and how often the algorithm is the stated one.
//
// Has the requirements of FormatComparison().
std::string FormatErrorSummary(const MeasuredTable& table,
                               absl::Span<const Outcome> outcomes);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_ERROR_SUMMARY_H_
