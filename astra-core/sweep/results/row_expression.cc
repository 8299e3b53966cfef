#include "astra-core/sweep/results/row_expression.h"

#include <algorithm>
#include <string_view>

#include "astra-core/base/names.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns whether `status` says that there is no variable `name`.
bool IsAbout(const absl::Status& status, std::string_view name) {
  const std::string begin = fmt::format("unknown variable {}", Quoted(name));
  return status.message().substr(0, begin.size()) == begin;
}

std::string NearestOf(const std::string& name, const SweepTable& table) {
  std::vector<std::string_view> known(table.variables.begin(),
                                      table.variables.end());
  known.insert(known.end(), table.metrics.begin(), table.metrics.end());
  return std::string(NearestName(name, known));
}

}  // namespace

RowExpression::RowExpression(const Expression& expression,
                             const SweepTable& table)
    : expression_(&expression) {
  for (const std::string& name : expression.names()) {
    const auto variable =
        std::find(table.variables.begin(), table.variables.end(), name);
    const auto metric =
        std::find(table.metrics.rbegin(), table.metrics.rend(), name);
    if (variable != table.variables.end()) {
      operands_.push_back(
          {name, false,
           static_cast<size_t>(variable - table.variables.begin())});
    } else if (metric != table.metrics.rend()) {
      operands_.push_back(
          {name, true, static_cast<size_t>(table.metrics.rend() - metric) - 1});
    } else {
      unknown_.push_back({name, NearestOf(name, table)});
    }
  }
}

absl::StatusOr<SweepValue> RowExpression::Evaluate(const SweepRow& row) const {
  absl::StatusOr<SweepValue> value = expression_->Evaluate(VariablesOf(row));
  if (!value.ok()) return Explain(value.status(), row);
  return value;
}

absl::StatusOr<bool> RowExpression::Holds(const SweepRow& row) const {
  absl::StatusOr<bool> holds = expression_->Holds(VariablesOf(row));
  if (!holds.ok()) return Explain(holds.status(), row);
  return holds;
}

SweepVariables RowExpression::VariablesOf(const SweepRow& row) const {
  SweepVariables variables;
  for (const auto& [name, is_metric, position] : operands_) {
    if (!is_metric) {
      variables.emplace(name, row.values[position]);
    } else if (row.metrics[position]) {
      // A metric is passed with decimals even if it is whole: a large whole
      // number would overflow 64 bits.
      variables.emplace(name, TextOf(SweepValue(*row.metrics[position])));
    }
  }
  return variables;
}

absl::Status RowExpression::Explain(const absl::Status& status,
                                    const SweepRow& row) const {
  for (const auto& [name, nearest] : unknown_) {
    if (!IsAbout(status, name)) continue;
    // The known names are not listed, as there may be hundreds of metrics.
    return absl::InvalidArgumentError(fmt::format(
        "unknown variable {}{}", Quoted(name),
        nearest.empty() ? ""
                        : fmt::format("; did you mean {}?", Quoted(nearest))));
  }
  for (const auto& [name, is_metric, position] : operands_) {
    const bool is_absent = is_metric && !row.metrics[position];
    if (!is_absent || !IsAbout(status, name)) continue;
    return absl::InvalidArgumentError(
        fmt::format("the point has no {}", Quoted(name)));
  }
  return status;
}

}  // namespace astra
