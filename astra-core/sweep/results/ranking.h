// Ranks the rows of a sweep.

#ifndef ASTRA_CORE_SWEEP_RESULTS_RANKING_H_
#define ASTRA_CORE_SWEEP_RESULTS_RANKING_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/sweep/results/sweep_table.h"

namespace astra {

// Returns the rows that finished, are feasible and have the metric of the first
// objective, the best first. Equal rows are ordered by number.
std::vector<size_t> RankedRows(const SweepTable& table);
// Returns the Pareto-optimal rows, by number. Candidates are the rows that
// finished, are feasible and have the metrics of all objectives. A row is left
// out if another is at least as good in all objectives and better in one. With
// one objective the result is the best row and all equal to it.
std::vector<size_t> ParetoRows(const SweepTable& table);

// Returns `value` as a multiple of `base`: 1 where they are equal, infinity
// where only `base` is 0.
double MultipleOf(double base, double value);

// The best row among those with one step of an axis.
struct AxisStepBest {
  std::string value;
  size_t row;
  // First objective of the row, as a multiple of the best value of all rows.
  double relative;
};

// Returns for each axis, in the order of the table, the best row of each step,
// in the order of the sweep file. Steps without a ranked row are left out.
std::vector<std::vector<AxisStepBest>> BestByAxis(const SweepTable& table);

// Returns what `compare` prints for one sweep: the best `top` rows with their
// objectives, the best row for each step of each axis, the Pareto front where
// there is more than one objective, and the best row's breakdown of time and
// commands. The text also says how many points are infeasible, failed or
// pending, and repeats the table's warnings.
std::string DescribeComparison(const SweepTable& table, size_t top);

// Returns what `compare A B` prints: the best row of each sweep, then the pairs
// of points with equal values on the axes that both sweeps have, with the first
// objective of both and their ratio. The `top` pairs that differ most come
// first. The text also counts the points that only one sweep has.
//
// Errors: InvalidArgument where the sweeps share no axis, or have different
// first objectives.
absl::StatusOr<std::string> DescribeDifference(const SweepTable& a,
                                               const SweepTable& b, size_t top);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_RANKING_H_
