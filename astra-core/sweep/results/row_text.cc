#include "astra-core/sweep/results/row_text.h"

#include <algorithm>
#include <map>
#include <vector>

#include "astra-core/sweep/results/text_columns.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns `text` with each run of digits replaced by one '#'.
std::string WithoutNumbers(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) {
      pattern += c;
    } else if (pattern.empty() || pattern.back() != '#') {
      pattern += '#';
    }
  }
  return pattern;
}

}  // namespace

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
    // Variables that change together have a summary such as "tp=8 pp=4".
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
  return InfeasibleText(CountRows(table, PointState::kInfeasible));
}

std::string InfeasibleText(size_t count) {
  return count == 0 ? "" : fmt::format(" ({} infeasible)", count);
}

std::string IllegalText(const SweepTable& table) {
  const size_t count = CountRows(table, PointState::kIllegal);
  return count == 0 ? "" : fmt::format(", {} left out as illegal", count);
}

std::string IllegalReasonsText(const SweepTable& table) {
  struct Rule {
    const SweepRow* first;
    size_t count = 0;
    bool has_others = false;  // Some reasons have other numbers than `first`.
  };
  std::map<std::string, Rule> by_rule;
  for (const SweepRow& row : table.rows) {
    if (row.state != PointState::kIllegal) continue;
    Rule& rule = by_rule.try_emplace(WithoutNumbers(row.reason), Rule{&row})
                     .first->second;
    ++rule.count;
    rule.has_others |= row.reason != rule.first->reason;
  }
  std::vector<Rule> rules;
  rules.reserve(by_rule.size());
  for (const auto& [_, rule] : by_rule) rules.push_back(rule);
  std::sort(rules.begin(), rules.end(), [](const Rule& a, const Rule& b) {
    return a.count != b.count ? a.count > b.count
                              : a.first->number < b.first->number;
  });
  std::string text;
  for (const Rule& rule : rules) {
    text += fmt::format("left out   {}: {}{}\n", rule.count,
                        PlainText(rule.first->reason),
                        rule.has_others ? " (or with other numbers)" : "");
  }
  return text;
}

std::string Counted(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string MoreText(size_t total, size_t shown) {
  return total > shown ? fmt::format("  and {} more\n", total - shown) : "";
}

}  // namespace astra
