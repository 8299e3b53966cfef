// Computes the metrics that a sweep file defines over the metrics of its runs.

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

// Adds the computed metrics to the finished rows of `table`, behind the other
// metrics; true becomes 1 and false 0. An expression may use the variables, the
// metrics of the run, and earlier computed metrics. A name means the variable
// of that name, or else the last such metric: a computed metric replaces the
// run's metric of the same name.
//
// A metric that cannot be computed, or is a text, is absent from its row. For
// each such metric the table gets a warning that quotes the first case: "metric
// cost: absent in 2 of 36 points: WHY (point 7)".
void AddComputedMetrics(absl::Span<const ComputedMetric> computed,
                        SweepTable& table);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_COMPUTED_METRICS_H_
