// Which rows of a sweep are best.

#ifndef ASTRA_CORE_SWEEP_RESULTS_RANKING_H_
#define ASTRA_CORE_SWEEP_RESULTS_RANKING_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/sweep/results/sweep_table.h"

namespace astra {

// The rows that finished, are feasible and have the first objective's metric,
// best first; equals by number.
std::vector<size_t> RankedRows(const SweepTable& table);

// Of the rows that finished, are feasible and have the metrics of all
// objectives, those that no other is at least as good as in all and better in
// one. By number. With one objective: the best, all of equals.
std::vector<size_t> ParetoRows(const SweepTable& table);

// `value` as a multiple of `base`: 1 where they are equal, infinite where only
// `base` is 0.
double MultipleOf(double base, double value);

// The best of the rows with one step of an axis.
struct AxisStepBest {
  std::string value;
  size_t row;
  // Of the first objective, as a multiple of the best of all rows.
  double relative;
};

// For each axis, in the order of the table, its steps in the order of the file;
// steps without a ranked row are left out.
std::vector<std::vector<AxisStepBest>> BestByAxis(const SweepTable& table);

// What `compare` prints of one sweep: the best `top` rows with their
// objectives, the best of each step of each axis, the Pareto front where there
// is more than one objective, and the best row's breakdown of time and its
// commands. Says how many points are infeasible, failed or have not run, and
// the table's warnings.
std::string DescribeComparison(const SweepTable& table, size_t top);

// What `compare A B` prints: the best of each, and of the points whose axes
// hold the same, by the axes both have, the first objective of both and their
// ratio, the `top` that differ most first; how many are only in one.
//
// Errors: InvalidArgument where the sweeps share no axis or not their first
// objective.
absl::StatusOr<std::string> DescribeDifference(const SweepTable& a,
                                               const SweepTable& b, size_t top);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_RANKING_H_
