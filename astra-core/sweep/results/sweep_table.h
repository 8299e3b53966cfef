// Holds the results of a sweep as rows, for comparing, printing and drawing.

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
  kInfeasible,  // Finished, but misses a requirement of the sweep.
  kIllegal,     // Left out because its layout is not legal.
  kFailed,
};

// Returns "pending", "finished", "infeasible", "illegal" or "failed".
std::string_view PointStateName(PointState state);

// Returns the state of the run that `record` describes.
PointState StateOf(const PointRecord& record);

// Returns whether the run finished, feasible or not, and therefore has metrics.
bool HasFinished(PointState state);

struct SweepRow {
  uint32_t number = 0;  // Number of the point; of repeats, that of the first.
  std::string key;
  PointState state = PointState::kPending;
  // Why the row failed, is infeasible or is illegal. A row of merged repeats
  // has a reason also where only some of the repeats have one.
  std::string reason;
  bool is_unclear = false;  // Infeasible by a requirement without an answer.
  std::vector<std::string> values;  // Values of SweepTable::variables.
  // Values of SweepTable::metrics; none where the run has no such number.
  std::vector<std::optional<double>> metrics;
  std::optional<PointCost> cost;      // None where the point has not run.
  std::vector<std::string> commands;  // Empty where the point has not run.
};

struct SweepTable {
  std::string name;
  std::string program;  // Program of the runs, such as "simai_analytical".
  std::string version;  // Version of the programs; empty where none has run.
  // Names as in SweepPoints::variables: the first num_axes are the axes.
  // axis_values holds the steps of each axis in the order of the sweep file.
  std::vector<std::string> variables;
  size_t num_axes = 0;
  std::vector<std::vector<std::string>> axis_values;
  bool has_repeats = false;  // If true, the last axis is "seed".
  std::vector<std::string> metrics;
  // At least one objective; the first ranks the rows.
  std::vector<SweepObjective> objectives;
  std::vector<SweepRow> rows;  // Ordered by number.
  // Reasons why computed metrics are absent, one line each.
  std::vector<std::string> warnings;
};

// Returns the position of a metric, or none if no run has it.
std::optional<size_t> FindMetric(const SweepTable& table,
                                 std::string_view name);

// Returns the table with one row for each set of repeats, without the axis
// "seed". Metrics are means over the runs that finished. For each metric of an
// objective, METRIC_min and METRIC_max are added at the end. A merged row has
// finished where one of its runs has, and is infeasible where one of its runs
// is. Its cost is the total of all its runs; its commands and the values of
// other variables are those of the first run. A table without repeats is
// returned unchanged.
SweepTable MergeRepeats(const SweepTable& table);

struct ColumnNames {
  std::vector<std::string> variables;
  std::vector<std::string> metrics;
};

// Returns distinct column names for a table that begins with the columns
// `fixed`. A variable whose name is taken gets the suffix "_variable" and a
// metric "_metric", repeated until the name differs from all before it. As in
// SQL, case makes no difference.
ColumnNames DistinctColumns(absl::Span<const std::string_view> fixed,
                            absl::Span<const std::string> variables,
                            absl::Span<const std::string> metrics);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_SWEEP_TABLE_H_
