#include "astra-core/sweep/results/computed_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <variant>

namespace astra {
namespace {

// Positions by name.
using Positions = std::map<std::string, size_t, std::less<>>;

// A variable of an expression, and where its value stands in a row.
struct Operand {
  std::string name;
  bool is_metric;
  size_t position;
};

std::vector<Operand> OperandsOf(const Expression& expression,
                                const SweepTable& table,
                                const Positions& metrics) {
  std::vector<Operand> operands;
  for (const std::string& name : expression.names()) {
    const auto variable =
        std::find(table.variables.begin(), table.variables.end(), name);
    const auto metric = metrics.find(name);
    if (variable != table.variables.end()) {
      operands.push_back(
          {name, false,
           static_cast<size_t>(variable - table.variables.begin())});
    } else if (metric != metrics.end()) {
      operands.push_back({name, true, metric->second});
    }
  }
  return operands;
}

std::optional<double> NumberOf(const SweepValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr || !std::isfinite(*number)) return std::nullopt;
  return *number;
}

std::optional<double> Compute(const Expression& expression,
                              const std::vector<Operand>& operands,
                              const SweepRow& row) {
  SweepVariables variables;
  for (const auto& [name, is_metric, position] : operands) {
    if (!is_metric) {
      variables.emplace(name, row.values[position]);
    } else if (row.metrics[position]) {
      // A metric is a number with decimals though it may be whole, lest one
      // that is large overflows 64 bits.
      variables.emplace(name, TextOf(SweepValue(*row.metrics[position])));
    }
  }
  const absl::StatusOr<SweepValue> value = expression.Evaluate(variables);
  return value.ok() ? NumberOf(*value) : std::nullopt;
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
    const std::vector<Operand> operands =
        OperandsOf(expression, table, metrics);
    for (SweepRow& row : table.rows) {
      const bool finished = row.state == PointState::kFinished;
      row.metrics.push_back(finished ? Compute(expression, operands, row)
                                     : std::nullopt);
    }
    const auto [found, is_new] = metrics.emplace(name, table.metrics.size());
    if (!is_new) replaced.insert(found->second);
    found->second = table.metrics.size();
    table.metrics.push_back(name);
  }
  RemoveMetrics(replaced, table);
}

}  // namespace astra
