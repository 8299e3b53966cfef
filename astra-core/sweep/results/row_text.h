// What the texts about a sweep say of its rows.

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

// The same as text; "-" where there is none.
std::string MetricText(const SweepTable& table, const SweepRow& row,
                       std::string_view metric);

// "minimize iteration_ms".
std::string ObjectiveText(const SweepObjective& objective);

// "point 7: tp=8 pp=4, iteration_ms 8094.01, mfu 0.41": the axes, then the
// objectives.
std::string PointText(const SweepTable& table, const SweepRow& row);

size_t CountRows(const SweepTable& table, PointState state);

// Those that finished, feasible or not.
size_t CountFinished(const SweepTable& table);

// " (45 infeasible)", to follow the number of those that finished; empty where
// there are none.
std::string InfeasibleText(const SweepTable& table);

// ", 90 left out as illegal", to follow that; empty where there are none.
std::string IllegalText(const SweepTable& table);

// A line "left out   60: REASON" for each rule of layouts that left out points,
// the most frequent first. Reasons that differ in their numbers are of one
// rule.
std::string IllegalReasonsText(const SweepTable& table);

// "1 point", "2 points".
std::string Counted(size_t count, std::string_view what);

// A line that says how many are not shown; none where all are.
std::string MoreText(size_t total, size_t shown);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_ROW_TEXT_H_
