#include "astra-core/sweep/results/row_text.h"

#include <algorithm>

#include "astra-core/sweep/results/text_columns.h"
#include "fmt/format.h"

namespace astra {

std::optional<double> MetricOf(const SweepTable& table, const SweepRow& row,
                               std::string_view metric) {
  const std::optional<size_t> position = FindMetric(table, metric);
  return position ? row.metrics[*position] : std::nullopt;
}

std::string MetricText(const SweepTable& table, const SweepRow& row,
                       std::string_view metric) {
  const std::optional<double> value = MetricOf(table, row, metric);
  return value ? ShortNumber(*value) : "-";
}

std::string ObjectiveText(const SweepObjective& objective) {
  return fmt::format("{} {}", objective.maximize ? "maximize" : "minimize",
                     objective.metric);
}

std::string PointText(const SweepTable& table, const SweepRow& row) {
  std::string text = fmt::format("point {}:", row.number);
  for (size_t i = 0; i < table.num_axes; ++i) {
    // Of variables that move together, it is "tp=8 pp=4".
    const bool is_word = row.values[i].find_first_of(" =") == std::string::npos;
    const std::string_view quote = is_word ? "" : "\"";
    text += fmt::format(" {0}={1}{2}{1}", table.variables[i], quote,
                        PlainText(row.values[i]));
  }
  bool is_first = table.num_axes == 0;
  for (const SweepObjective& objective : table.objectives) {
    text += fmt::format("{}{} {}", is_first ? " " : ", ", objective.metric,
                        MetricText(table, row, objective.metric));
    is_first = false;
  }
  return text;
}

size_t CountRows(const SweepTable& table, PointState state) {
  return static_cast<size_t>(
      std::count_if(table.rows.begin(), table.rows.end(),
                    [&](const SweepRow& row) { return row.state == state; }));
}

size_t CountFinished(const SweepTable& table) {
  return CountRows(table, PointState::kFinished) +
         CountRows(table, PointState::kInfeasible);
}

std::string InfeasibleText(const SweepTable& table) {
  const size_t count = CountRows(table, PointState::kInfeasible);
  return count == 0 ? "" : fmt::format(" ({} infeasible)", count);
}

std::string Counted(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string MoreText(size_t total, size_t shown) {
  return total > shown ? fmt::format("  and {} more\n", total - shown) : "";
}

}  // namespace astra
