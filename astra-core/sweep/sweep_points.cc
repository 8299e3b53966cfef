#include "astra-core/sweep/sweep_points.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Steps through all combinations of the axes. The last axis changes fastest.
class Odometer {
 public:
  explicit Odometer(const Sweep& sweep)
      : sweep_(sweep), steps_(sweep.axes.size()) {
    for (size_t i = 0; i < steps_.size(); ++i) Show(i);
  }

  // Moves to a combination, which must exist.
  void MoveTo(size_t combination) {
    for (size_t i = steps_.size(); i-- > 0;) {
      const size_t count = sweep_.axes[i].steps.size();
      steps_[i] = combination % count;
      combination /= count;
      Show(i);
    }
  }

  // Moves to the next combination; the first follows the last.
  void Advance() {
    for (size_t i = steps_.size(); i-- > 0;) {
      steps_[i] = (steps_[i] + 1) % sweep_.axes[i].steps.size();
      Show(i);
      if (steps_[i] > 0) return;
    }
  }

  // Returns the variables of the axes. Variables that a caller adds stay until
  // they are replaced.
  SweepVariables& variables() { return variables_; }

 private:
  void Show(size_t i) {
    const SweepAxis& axis = sweep_.axes[i];
    for (size_t k = 0; k < axis.variables.size(); ++k) {
      variables_[axis.variables[k]] = axis.steps[steps_[i]][k];
    }
  }

  const Sweep& sweep_;
  std::vector<size_t> steps_;
  SweepVariables variables_;
};

absl::StatusOr<size_t> CountCombinations(const Sweep& sweep) {
  size_t count = 1;
  for (const SweepAxis& axis : sweep.axes) {
    count *= axis.steps.size();  // Both factors fit into 32 bits.
    if (count <= kMaxCombinations) continue;
    return absl::InvalidArgumentError(fmt::format(
        "the axes have more than {} combinations", kMaxCombinations));
  }
  return count;
}

absl::Status WrongAt(const Sweep& sweep, std::string_view where,
                     const absl::Status& status,
                     const SweepVariables& variables) {
  const std::vector<std::string> names = AxisVariableNames(sweep);
  const std::string at =
      names.empty()
          ? ""
          : fmt::format(" (at {})", DescribeVariables(names, variables));
  return absl::InvalidArgumentError(
      fmt::format("{}: {}{}", where, std::string(status.message()), at));
}

absl::Status AddDefinitions(const Sweep& sweep, SweepVariables& variables) {
  for (const SweepDefinition& definition : sweep.definitions) {
    absl::StatusOr<std::string> text = definition.value.Fill(variables);
    if (!text.ok()) {
      return WrongAt(sweep, definition.where, text.status(), variables);
    }
    variables[definition.name] = *std::move(text);
  }
  return absl::OkStatus();
}

// Returns the first rule that leaves a point out, or the number of rules if
// none does.
absl::StatusOr<size_t> FirstRuleAgainst(const Sweep& sweep,
                                        const SweepVariables& variables) {
  for (size_t i = 0; i < sweep.rules.size(); ++i) {
    const SweepRule& rule = sweep.rules[i];
    const absl::StatusOr<bool> holds = rule.expression.Holds(variables);
    if (!holds.ok()) {
      return WrongAt(sweep, rule.where, holds.status(), variables);
    }
    if (*holds == rule.is_exclusion) return i;
  }
  return sweep.rules.size();
}

// Returns the error for a sweep whose points are all left out. Requires at
// least one combination.
absl::Status NothingLeft(const Sweep& sweep,
                         absl::Span<const SkippedPoint> skipped) {
  std::vector<size_t> counts(sweep.rules.size());
  for (const SkippedPoint& point : skipped) ++counts[point.rule];
  const auto most = std::max_element(counts.begin(), counts.end());
  const SweepRule& rule =
      sweep.rules[static_cast<size_t>(most - counts.begin())];
  return absl::InvalidArgumentError(fmt::format(
      "{}: the rules leave none of {} combinations, this one alone leaves out "
      "{}",
      rule.where, skipped.size(), *most));
}

}  // namespace

absl::StatusOr<SweepPoints> ExpandSweep(const Sweep& sweep) {
  ASTRA_ASSIGN_OR_RETURN(const size_t count, CountCombinations(sweep));
  SweepPoints result;
  result.axis_variables = AxisVariableNames(sweep);
  for (const SweepAxis& axis : sweep.axes) {
    result.variables.push_back(axis.name);
  }
  for (const SweepAxis& axis : sweep.axes) {
    for (const std::string& variable : axis.variables) {
      if (variable != axis.name) result.variables.push_back(variable);
    }
  }
  for (const SweepDefinition& definition : sweep.definitions) {
    result.variables.push_back(definition.name);
  }
  Odometer odometer(sweep);
  for (size_t i = 0; i < count; ++i, odometer.Advance()) {
    SweepVariables& variables = odometer.variables();
    ASTRA_RETURN_IF_ERROR(AddDefinitions(sweep, variables));
    ASTRA_ASSIGN_OR_RETURN(const size_t rule,
                           FirstRuleAgainst(sweep, variables));
    if (rule < sweep.rules.size()) {
      result.skipped.push_back({.combination = static_cast<uint32_t>(i),
                                .rule = static_cast<uint32_t>(rule)});
      continue;
    }
    if (result.points.size() == kMaxPoints) {
      return absl::InvalidArgumentError(fmt::format(
          "more than {} points, of {} combinations", kMaxPoints, count));
    }
    result.points.push_back(
        {.number = static_cast<uint32_t>(result.points.size() + 1),
         .variables = variables});
  }
  if (result.points.empty()) return NothingLeft(sweep, result.skipped);
  return result;
}

SweepVariables AxisVariablesOf(const Sweep& sweep, uint32_t combination) {
  Odometer odometer(sweep);
  odometer.MoveTo(combination);
  return std::move(odometer.variables());
}

std::vector<std::string> AxisVariableNames(const Sweep& sweep) {
  std::vector<std::string> names;
  for (const SweepAxis& axis : sweep.axes) {
    names.insert(names.end(), axis.variables.begin(), axis.variables.end());
    if (axis.has_summary) names.pop_back();
  }
  return names;
}

std::string DescribeVariables(const std::vector<std::string>& names,
                              const SweepVariables& variables) {
  std::string text;
  for (const std::string& name : names) {
    const auto found = variables.find(name);
    if (found == variables.end()) continue;
    text +=
        fmt::format("{}{}={}", text.empty() ? "" : " ", name, found->second);
  }
  return text;
}

}  // namespace astra
