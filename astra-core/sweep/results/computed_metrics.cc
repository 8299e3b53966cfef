#include "astra-core/sweep/results/computed_metrics.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/sweep/results/row_expression.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Position of each metric, by name.
using Positions = std::map<std::string, size_t, std::less<>>;

absl::StatusOr<double> NumberOf(const SweepValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  const auto* number = std::get_if<double>(&value);
  if (number != nullptr && std::isfinite(*number)) return *number;
  return absl::InvalidArgumentError(
      fmt::format("it is {}: {}", number == nullptr ? "a text" : "no number",
                  DescribeValue(value)));
}

absl::StatusOr<double> Compute(const RowExpression& of_rows,
                               const SweepRow& row) {
  const absl::StatusOr<SweepValue> value = of_rows.Evaluate(row);
  if (!value.ok()) return value.status();
  return NumberOf(*value);
}

// Adds a metric to all finished rows, and a warning if it is absent in some.
void AddMetric(const std::string& name, const RowExpression& of_rows,
               SweepTable& table) {
  size_t num_finished = 0;
  size_t num_absent = 0;
  std::string why;  // Reason in the first row without the metric.
  for (SweepRow& row : table.rows) {
    std::optional<double>& metric = row.metrics.emplace_back();
    if (!HasFinished(row.state)) continue;
    ++num_finished;
    const absl::StatusOr<double> value = Compute(of_rows, row);
    if (value.ok()) {
      metric = *value;
      continue;
    }
    if (num_absent == 0) {
      why = fmt::format("{} (point {})", std::string(value.status().message()),
                        row.number);
    }
    ++num_absent;
  }
  table.metrics.push_back(name);
  if (num_absent == 0) return;
  table.warnings.push_back(
      fmt::format("metric {}: absent in {} of {} points: "
                  "{}",
                  name, num_absent, num_finished, why));
}

void RemoveMetrics(const std::set<size_t>& positions, SweepTable& table) {
  const auto remove = [&](auto& list) {
    for (auto it = positions.rbegin(); it != positions.rend(); ++it) {
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(*it));
    }
  };
  if (positions.empty()) return;
  remove(table.metrics);
  for (SweepRow& row : table.rows) remove(row.metrics);
}

}  // namespace

void AddComputedMetrics(absl::Span<const ComputedMetric> computed,
                        SweepTable& table) {
  Positions metrics;
  for (size_t i = 0; i < table.metrics.size(); ++i) {
    metrics.emplace(table.metrics[i], i);
  }
  std::set<size_t> replaced;
  for (const auto& [name, expression] : computed) {
    const auto [found, is_new] = metrics.emplace(name, table.metrics.size());
    if (!is_new) replaced.insert(found->second);
    found->second = table.metrics.size();
    AddMetric(name, RowExpression(expression, table), table);
  }
  RemoveMetrics(replaced, table);
}

}  // namespace astra
