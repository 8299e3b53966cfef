// The metrics that a sweep file computes from those of the runs.

#ifndef ASTRA_CORE_SWEEP_RESULTS_COMPUTED_METRICS_H_
#define ASTRA_CORE_SWEEP_RESULTS_COMPUTED_METRICS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/sweep/expression.h"
#include "astra-core/sweep/results/sweep_table.h"

namespace astra {

using ComputedMetric = std::pair<std::string, Expression>;

// Adds them to the rows of `table` that finished, after the metrics that are
// there, true as 1 and false as 0. An expression may use the variables, the
// metrics of the run, and the computed ones before it; of one name, the
// variable, then the last. One that cannot be computed, or is a text, is
// absent; for each metric that is absent in a row, the table has a warning:
// "metric cost: absent in 2 of 36 points: WHY (point 7)", of the first. One
// with the name of a metric of the runs takes its place.
void AddComputedMetrics(absl::Span<const ComputedMetric> computed,
                        SweepTable& table);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_COMPUTED_METRICS_H_
