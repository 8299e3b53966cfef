#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/names.h"
#include "astra-core/sweep/results/ranking.h"
#include "astra-core/sweep/results/row_text.h"
#include "astra-core/sweep/results/text_columns.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

using Align = TextColumns::Align;

// Most steps of an axis that are shown; of more steps, only the best are.
constexpr size_t kMaxSteps = 20;
constexpr size_t kMaxReasons = 5;
constexpr size_t kMaxPointsOfReason = 8;
constexpr std::string_view kTotal = "iteration_ms";

using Reason = std::pair<std::string, std::vector<uint32_t>>;

// Returns the reasons of all rows in `state` with their points, the most
// frequent first.
std::vector<Reason> ReasonsOf(const SweepTable& all, PointState state) {
  std::map<std::string, std::vector<uint32_t>> by_reason;
  for (const SweepRow& row : all.rows) {
    if (row.state == state) by_reason[row.reason].push_back(row.number);
  }
  std::vector<Reason> reasons(by_reason.begin(), by_reason.end());
  std::sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) {
    return a.second.size() != b.second.size()
               ? a.second.size() > b.second.size()
               : a.second.front() < b.second.front();
  });
  return reasons;
}

// Returns a line for each of the most frequent reasons.
std::string InfeasibleReasonsText(const SweepTable& all) {
  const std::vector<Reason> reasons = ReasonsOf(all, PointState::kInfeasible);
  std::string text;
  size_t num_others = 0;
  for (size_t i = 0; i < reasons.size(); ++i) {
    const auto& [reason, numbers] = reasons[i];
    if (i < kMaxReasons) {
      text +=
          fmt::format("infeasible {}: {}\n", numbers.size(), PlainText(reason));
    } else {
      num_others += numbers.size();
    }
  }
  if (num_others == 0) return text;
  return text + fmt::format("infeasible {}: for other reasons\n", num_others);
}

std::string WarningsText(const SweepTable& table) {
  std::string text;
  for (const std::string& warning : table.warnings) {
    text += fmt::format("warning    {}\n", PlainText(warning));
  }
  return text;
}

// Returns the head of the comparison. `all` must not have its repeats merged.
std::string HeaderText(const SweepTable& all) {
  std::vector<std::string> objectives;
  objectives.reserve(all.objectives.size());
  for (const SweepObjective& objective : all.objectives) {
    objectives.push_back(ObjectiveText(objective));
  }
  std::string text = fmt::format(
      "sweep      {}: {}{}{}\n"
      "points     {}: {} finished{}{}, {} failed, {} not run\n"
      "objective  {}\n",
      PlainText(all.name), all.program, all.version.empty() ? "" : " ",
      PlainText(all.version), all.rows.size(), CountFinished(all),
      InfeasibleText(all), IllegalText(all),
      CountRows(all, PointState::kFailed), CountRows(all, PointState::kPending),
      fmt::join(objectives, ", "));
  if (all.has_repeats) {
    text += fmt::format(
        "repeats    {} of each; metrics are means of those that finished\n",
        all.axis_values[all.num_axes - 1].size());
  }
  return text + InfeasibleReasonsText(all) + IllegalReasonsText(all);
}

// Explains why finished rows are not ranked.
std::string MissingText(const SweepTable& table) {
  const size_t finished = CountFinished(table);
  if (finished == 0) return "best       none: no point has finished\n";
  if (CountRows(table, PointState::kFinished) == 0) {
    return "best       none: no point that finished is feasible\n";
  }
  std::string text;
  std::vector<std::string_view> known(table.metrics.begin(),
                                      table.metrics.end());
  for (const SweepObjective& objective : table.objectives) {
    const std::optional<size_t> metric = FindMetric(table, objective.metric);
    if (!metric) {
      text += fmt::format("warning    {}\n",
                          UnknownName("metric", objective.metric, known));
      continue;
    }
    const auto lacking = std::count_if(
        table.rows.begin(), table.rows.end(), [&](const SweepRow& row) {
          return HasFinished(row.state) && !row.metrics[*metric];
        });
    if (lacking == 0) continue;
    text += fmt::format("warning    {} of {} that finished: no {}\n", lacking,
                        finished, objective.metric);
  }
  return text;
}

// Returns the range of merged repeats, such as "8.1 .. 8.4"; empty for single
// runs.
std::string RangeText(const SweepTable& table, const SweepRow& row,
                      const std::string& metric) {
  const std::optional<double> min = MetricOf(table, row, metric + "_min");
  const std::optional<double> max = MetricOf(table, row, metric + "_max");
  return min && max
             ? fmt::format("{} .. {}", ShortNumber(*min), ShortNumber(*max))
             : "";
}

// Returns the names of the objectives, with "and" before the last.
std::string ObjectiveNames(const SweepTable& table) {
  std::string text;
  for (size_t i = 0; i < table.objectives.size(); ++i) {
    const bool is_last = i + 1 == table.objectives.size();
    if (i > 0) text += is_last ? " and " : ", ";
    text += table.objectives[i].metric;
  }
  return text;
}

// A table of rows with their axes and objectives, and the first objective as a
// multiple of the best row's.
class RowColumns {
 public:
  RowColumns(const SweepTable& table, double best)
      : table_(&table),
        first_(table.objectives.front().metric),
        has_range_(FindMetric(table, first_ + "_min").has_value()),
        best_(best) {
    columns_.AddColumn("point", Align::kRight);
    for (size_t i = 0; i < table.num_axes; ++i) {
      columns_.AddColumn(table.variables[i], Align::kLeft);
    }
    columns_.AddColumn(first_, Align::kRight);
    if (has_range_) columns_.AddColumn("min .. max", Align::kRight);
    columns_.AddColumn("relative", Align::kRight);
    for (size_t i = 1; i < table.objectives.size(); ++i) {
      columns_.AddColumn(table.objectives[i].metric, Align::kRight);
    }
  }

  // Adds a row, which must have the first objective.
  void Add(const SweepRow& row) {
    std::vector<std::string> cells = {fmt::format("{}", row.number)};
    for (size_t i = 0; i < table_->num_axes; ++i) {
      cells.push_back(PlainText(row.values[i]));
    }
    const double value = *MetricOf(*table_, row, first_);
    cells.push_back(ShortNumber(value));
    if (has_range_) cells.push_back(RangeText(*table_, row, first_));
    cells.push_back(RatioText(MultipleOf(best_, value)));
    for (size_t i = 1; i < table_->objectives.size(); ++i) {
      cells.push_back(MetricText(*table_, row, table_->objectives[i].metric));
    }
    columns_.AddRow(std::move(cells));
  }

  std::string Text() const { return columns_.Text(); }

 private:
  const SweepTable* table_;
  std::string first_;
  bool has_range_;
  double best_;
  TextColumns columns_;
};

// Formats at most `top` of `rows`.
std::string RowsText(const SweepTable& table, absl::Span<const size_t> rows,
                     size_t top, double best) {
  RowColumns columns(table, best);
  const size_t shown = std::min(top, rows.size());
  for (const size_t row : rows.first(shown)) columns.Add(table.rows[row]);
  return columns.Text() + MoreText(rows.size(), shown);
}

// Returns the best kMaxSteps steps, in the order of the sweep file.
std::vector<AxisStepBest> ShownSteps(const SweepTable& table,
                                     std::vector<AxisStepBest> steps) {
  if (steps.size() <= kMaxSteps) return steps;
  std::vector<double> sizes;
  sizes.reserve(steps.size());
  // The sign makes lower values better.
  const double sign = table.objectives.front().maximize ? -1 : 1;
  for (const AxisStepBest& step : steps) sizes.push_back(sign * step.relative);
  const auto last = sizes.begin() + (kMaxSteps - 1);
  std::nth_element(sizes.begin(), last, sizes.end());
  const double limit = *last;
  const auto is_worse = [&](const AxisStepBest& step) {
    return sign * step.relative > limit;
  };
  steps.erase(std::remove_if(steps.begin(), steps.end(), is_worse),
              steps.end());
  steps.resize(std::min(steps.size(), kMaxSteps), steps.front());
  return steps;
}

// Formats, for each axis with at least two steps, the best row of each step and
// its values on the other axes.
std::string StepsText(const SweepTable& table) {
  const std::string& first = table.objectives.front().metric;
  std::string text;
  const std::vector<std::vector<AxisStepBest>> axes = BestByAxis(table);
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis].size() < 2) continue;
    TextColumns columns;
    columns.AddColumn(table.variables[axis], Align::kLeft);
    columns.AddColumn(first, Align::kRight);
    columns.AddColumn("relative", Align::kRight);
    columns.AddColumn("point", Align::kRight);
    for (size_t other = 0; other < axes.size(); ++other) {
      if (other != axis)
        columns.AddColumn(table.variables[other], Align::kLeft);
    }
    const std::vector<AxisStepBest> shown = ShownSteps(table, axes[axis]);
    for (const AxisStepBest& step : shown) {
      const SweepRow& row = table.rows[step.row];
      std::vector<std::string> cells = {
          PlainText(step.value), MetricText(table, row, first),
          RatioText(step.relative), fmt::format("{}", row.number)};
      for (size_t other = 0; other < axes.size(); ++other) {
        if (other != axis) cells.push_back(PlainText(row.values[other]));
      }
      columns.AddRow(std::move(cells));
    }
    text +=
        fmt::format("\nbest of each {}\n{}{}", table.variables[axis],
                    columns.Text(), MoreText(axes[axis].size(), shown.size()));
  }
  return text;
}

// Formats the Pareto front, ordered by the first objective, where there is more
// than one objective.
std::string ParetoText(const SweepTable& table, absl::Span<const size_t> ranked,
                       size_t top, double best) {
  if (table.objectives.size() < 2) return "";
  const std::vector<size_t> front = ParetoRows(table);
  std::vector<size_t> rows;
  std::copy_if(ranked.begin(), ranked.end(), std::back_inserter(rows),
               [&](size_t row) {
                 return std::binary_search(front.begin(), front.end(), row);
               });
  return fmt::format("\nPareto front of {}: {}\n{}", ObjectiveNames(table),
                     Counted(rows.size(), "point"),
                     rows.empty() ? "" : RowsText(table, rows, top, best));
}

// Returns whether `metric` is one of the times that add up to the iteration
// time.
bool IsPart(std::string_view metric) {
  constexpr std::string_view kExposed = "exposed_";
  constexpr std::string_view kUnit = "_ms";
  const bool is_exposed = metric.substr(0, kExposed.size()) == kExposed &&
                          metric.size() > kExposed.size() + kUnit.size() &&
                          metric.substr(metric.size() - kUnit.size()) == kUnit;
  return is_exposed || metric == "compute_ms" || metric == "slowed_ms" ||
         metric == "bubble_ms";
}

std::string BreakdownText(const SweepTable& table, const SweepRow& row) {
  const std::optional<double> total = MetricOf(table, row, kTotal);
  if (!total || *total <= 0) return "";
  TextColumns columns;
  columns.AddColumn("", Align::kLeft);
  columns.AddColumn("", Align::kRight);
  columns.AddColumn("", Align::kRight);
  const auto add = [&](std::string_view name, double value) {
    columns.AddRow({std::string(name), ShortNumber(value),
                    fmt::format("{:.1f} %", 100 * value / *total)});
  };
  bool has_part = false;
  for (size_t i = 0; i < table.metrics.size(); ++i) {
    const std::string& name = table.metrics[i];
    // Leaves out metrics that MergeRepeats() adds, and parts that take no time.
    if (!IsPart(name) || row.metrics[i].value_or(0) == 0) continue;
    add(name, *row.metrics[i]);
    has_part = true;
  }
  if (!has_part) return "";
  add(kTotal, *total);
  return "\ntime of the best\n" + columns.Text();
}

std::string CommandsText(const SweepRow& row) {
  if (row.commands.empty()) return "";
  std::string text = "\ncommands of the best\n";
  for (const std::string& command : row.commands) {
    text += fmt::format("  {}\n", command);
  }
  return text;
}

// Lists the first numbers, such as "1, 2, 3, ...".
std::string NumbersText(const std::vector<uint32_t>& numbers) {
  const size_t shown = std::min(numbers.size(), kMaxPointsOfReason);
  return fmt::format(
      "{}{}",
      fmt::join(numbers.begin(),
                numbers.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      shown < numbers.size() ? ", ..." : "");
}

std::string FailuresText(const SweepTable& all) {
  const std::vector<Reason> reasons = ReasonsOf(all, PointState::kFailed);
  if (reasons.empty()) return "";
  const size_t shown = std::min(reasons.size(), kMaxReasons);
  std::string text = "\nfailed\n";
  size_t num_others = 0;
  for (size_t i = 0; i < reasons.size(); ++i) {
    const auto& [reason, numbers] = reasons[i];
    if (i >= shown) {
      num_others += numbers.size();
      continue;
    }
    text += fmt::format("  point{} {}: {}\n", numbers.size() == 1 ? "" : "s",
                        NumbersText(numbers), PlainText(reason));
  }
  if (num_others > 0) {
    text += fmt::format("  and {} for other reasons\n",
                        Counted(num_others, "point"));
  }
  return text;
}

}  // namespace

std::string DescribeComparison(const SweepTable& table, size_t top) {
  // Avoids copying the table where it has no repeats: it may be large.
  std::optional<SweepTable> without_repeats;
  if (table.has_repeats) without_repeats = MergeRepeats(table);
  const SweepTable& merged = without_repeats ? *without_repeats : table;
  const std::vector<size_t> ranked = RankedRows(merged);
  std::string text =
      HeaderText(table) + WarningsText(table) + MissingText(merged);
  if (!ranked.empty()) {
    const SweepRow& row = merged.rows[ranked.front()];
    const double best =
        *MetricOf(merged, row, merged.objectives.front().metric);
    text += fmt::format("best       {}\n", PointText(merged, row));
    text += "\nranking\n" + RowsText(merged, ranked, top, best);
    text += StepsText(merged) + ParetoText(merged, ranked, top, best);
    text += BreakdownText(merged, row) + CommandsText(row);
  }
  return text + FailuresText(table);
}

}  // namespace astra
