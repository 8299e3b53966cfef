// Formats the parts of a row for messages and tables.

#ifndef ASTRA_CORE_SWEEP_RESULTS_ROW_TEXT_H_
#define ASTRA_CORE_SWEEP_RESULTS_ROW_TEXT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "astra-core/sweep/results/sweep_table.h"

namespace astra {

std::optional<double> MetricOf(const SweepTable& table, const SweepRow& row,
                               std::string_view metric);

// Returns the metric as text, or "-" where the row does not have it.
std::string MetricText(const SweepTable& table, const SweepRow& row,
                       std::string_view metric);

// Returns an objective as text, such as "minimize iteration_ms".
std::string ObjectiveText(const SweepObjective& objective);

// Returns a row as text: first the axes, then the objectives, such as "point 7:
// tp=8 pp=4, iteration_ms 8094.01, mfu 0.41".
std::string PointText(const SweepTable& table, const SweepRow& row);

size_t CountRows(const SweepTable& table, PointState state);

// Returns the number of rows that finished, feasible or not.
size_t CountFinished(const SweepTable& table);

// Returns " (45 infeasible)", to be placed behind the number of finished rows.
// Empty where no row is infeasible.
std::string InfeasibleText(const SweepTable& table);
std::string InfeasibleText(size_t count);

// Returns ", 90 left out as illegal", to be placed behind InfeasibleText().
// Empty where no row is illegal.
std::string IllegalText(const SweepTable& table);

// Returns a line "left out   60: REASON" for each layout rule that left out
// points, the most frequent first. Reasons that differ only in their numbers
// count as one rule.
std::string IllegalReasonsText(const SweepTable& table);

// Returns a count with its noun, such as "1 point" or "2 points".
std::string Counted(size_t count, std::string_view what);

// Returns a line that says how many are not shown; empty where all are shown.
std::string MoreText(size_t total, size_t shown);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_ROW_TEXT_H_
