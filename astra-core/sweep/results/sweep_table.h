// The results of a sweep as rows, for whoever compares, prints or draws them.

#ifndef ASTRA_CORE_SWEEP_RESULTS_SWEEP_TABLE_H_
#define ASTRA_CORE_SWEEP_RESULTS_SWEEP_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/sweep/execution/point_record.h"
#include "astra-core/sweep/sweep.h"

namespace astra {

enum class PointState : uint8_t {
  kPending,
  kFinished,
  kInfeasible,  // Finished, but not what the sweep requires.
  kIllegal,     // Left out: its layout is not legal.
  kFailed,
};

// "pending", "finished", "infeasible", "illegal", "failed".
std::string_view PointStateName(PointState state);

// What came of the run that `record` is of.
PointState StateOf(const PointRecord& record);

// Whether the run finished, and so has metrics: feasible or not.
bool HasFinished(PointState state);

struct SweepRow {
  uint32_t number = 0;  // Of the point; of repeats, the first.
  std::string key;
  PointState state = PointState::kPending;
  // Why it failed, or is infeasible or illegal; of repeats also where only some
  // of them failed or are.
  std::string reason;
  std::vector<std::string> values;  // Of SweepTable::variables.
  // Of SweepTable::metrics; none where the run has no such number.
  std::vector<std::optional<double>> metrics;
  std::optional<PointCost> cost;      // Where it has run.
  std::vector<std::string> commands;  // Where it has run.
};

struct SweepTable {
  std::string name;
  std::string program;  // Of the runs: "simai_analytical".
  std::string version;  // Of the programs; empty where none has run.
  // As SweepPoints::variables: the first num_axes are the axes, whose steps in
  // the order of the file are in axis_values.
  std::vector<std::string> variables;
  size_t num_axes = 0;
  std::vector<std::vector<std::string>> axis_values;
  bool has_repeats = false;  // Then the last axis is "seed".
  std::vector<std::string> metrics;
  std::vector<SweepObjective> objectives;  // At least one.
  std::vector<SweepRow> rows;              // By number.
  // Why computed metrics are absent, in one line each.
  std::vector<std::string> warnings;
};

// The position of a metric; none if no run has it.
std::optional<size_t> FindMetric(const SweepTable& table,
                                 std::string_view name);

// The table with one row for each set of repeats: metrics are their mean over
// the runs that finished; the axis of the seed is gone. For each metric of an
// objective, METRIC_min and METRIC_max follow at the end. Without repeats, the
// table itself. A set has finished where one of its runs has; it is infeasible
// where one of them is. Its cost is what all took together, the commands and
// the values of the other variables are those of the first.
SweepTable MergeRepeats(const SweepTable& table);

struct ColumnNames {
  std::vector<std::string> variables;
  std::vector<std::string> metrics;
};

// What to call the columns of one table that begins with `fixed`: a variable
// with a name that is taken gets "_variable" at its end, a metric "_metric",
// until it differs from all before it. As in SQL, case makes no difference.
ColumnNames DistinctColumns(absl::Span<const std::string_view> fixed,
                            absl::Span<const std::string> variables,
                            absl::Span<const std::string> metrics);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_SWEEP_TABLE_H_
