#include "astra-core/apps/compare/run_comparison.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "astra-core/base/append_format.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Appends the names of the columns that AppendChange() fills.
void AppendChangeColumns(absl::Span<const FinishedRun> runs,
                         std::string_view unit, ComparisonTable& table) {
  for (size_t i = 1; i < runs.size(); ++i) {
    const std::string of =
        runs.size() == 2 ? "" : fmt::format(" of {}", runs[i].label);
    table.columns.push_back(fmt::format("difference{}{}", of, unit));
    table.columns.push_back(fmt::format("difference{} %", of));
  }
}

// Appends how each further value differs from the first; nothing where one of
// them is absent, and no percentage of 0.
void AppendChange(absl::Span<const std::optional<double>> values, int decimals,
                  ComparisonRow& row) {
  const std::optional<double> first = values.front();
  for (const std::optional<double> value : values.subspan(1)) {
    const bool is_known = first && value;
    row.push_back(is_known ? fmt::format("{:+.{}f}", *value - *first, decimals)
                           : "");
    row.push_back(is_known && *first > 0
                      ? fmt::format("{:+.2f}", 100 * (*value / *first - 1))
                      : "");
  }
}

std::string Text(std::optional<double> value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "";
}

// Returns the value of an input; empty if the run has none.
std::string InputOf(const FinishedRun& run, const std::string& key) {
  for (const auto& [name, value] : run.summary.inputs) {
    if (name == key) return value;
  }
  return "";
}

// Appends the table in columns as wide as their cells. The first is text, and
// all others if `are_texts`.
void AppendTable(const ComparisonTable& table, bool are_texts,
                 std::string& text) {
  std::vector<size_t> widths;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    widths.push_back(table.columns[i].size());
    for (const ComparisonRow& row : table.rows) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  const auto append = [&](const std::vector<std::string>& cells) {
    std::string line = " ";
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i == 0 || are_texts) {
        AppendFormat(&line, " {:<{}} ", cells[i], widths[i]);
      } else {
        AppendFormat(&line, " {:>{}} ", cells[i], widths[i]);
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  append(table.columns);
  for (const ComparisonRow& row : table.rows) append(row);
}

}  // namespace

ComparisonTable CompareFigures(absl::Span<const FinishedRun> runs) {
  ComparisonTable table;
  table.columns = {"figure"};
  for (const FinishedRun& run : runs) table.columns.push_back(run.label);
  AppendChangeColumns(runs, "", table);
  for (size_t i = 0; i < RunFigures().size(); ++i) {
    const FigureSpec& spec = RunFigures()[i];
    std::vector<std::optional<double>> values;
    for (const FinishedRun& run : runs) {
      values.push_back(run.summary.figures[i]);
    }
    const bool is_empty = std::all_of(
        values.begin(), values.end(),
        [](std::optional<double> value) { return !value || *value == 0; });
    if (is_empty) continue;
    ComparisonRow& row = table.rows.emplace_back();
    row.emplace_back(spec.name);
    for (const std::optional<double> value : values) {
      row.push_back(Text(value, spec.decimals));
    }
    AppendChange(values, spec.decimals, row);
  }
  return table;
}

ComparisonTable CompareCollectives(absl::Span<const FinishedRun> runs) {
  constexpr int kDecimals = 6;
  ComparisonTable table;
  table.columns = {"group", "collective"};
  std::set<std::pair<std::string, std::string>> keys;
  for (const FinishedRun& run : runs) {
    table.columns.push_back(fmt::format("count in {}", run.label));
    table.columns.push_back(fmt::format("ms in {}", run.label));
    for (const auto& [key, total] : run.collectives) keys.insert(key);
  }
  AppendChangeColumns(runs, " ms", table);
  for (const auto& key : keys) {
    ComparisonRow& row = table.rows.emplace_back();
    row = {key.first, key.second};
    std::vector<std::optional<double>> times;
    for (const FinishedRun& run : runs) {
      const auto found = run.collectives.find(key);
      const bool is_known = found != run.collectives.end();
      times.push_back(is_known ? std::optional(found->second.ms)
                               : std::nullopt);
      row.push_back(is_known ? fmt::format("{}", found->second.count) : "");
      row.push_back(Text(times.back(), kDecimals));
    }
    AppendChange(times, kDecimals, row);
  }
  return table;
}

ComparisonTable CompareInputs(absl::Span<const FinishedRun> runs) {
  ComparisonTable table;
  table.columns = {"input"};
  std::set<std::string> known;
  for (const FinishedRun& run : runs) table.columns.push_back(run.label);
  for (const FinishedRun& run : runs) {
    for (const auto& [key, value] : run.summary.inputs) {
      if (!known.insert(key).second) continue;
      ComparisonRow row = {key};
      for (const FinishedRun& each : runs) row.push_back(InputOf(each, key));
      const bool is_same =
          std::all_of(row.begin() + 1, row.end(),
                      [&](const std::string& cell) { return cell == row[1]; });
      if (!is_same) table.rows.push_back(std::move(row));
    }
  }
  return table;
}

std::string DescribeComparison(absl::Span<const FinishedRun> runs) {
  std::string text;
  AppendTable(CompareFigures(runs), /*are_texts=*/false, text);
  const ComparisonTable inputs = CompareInputs(runs);
  if (inputs.rows.empty()) return text + "inputs     the same\n";
  text += "inputs that differ\n";
  AppendTable(inputs, /*are_texts=*/true, text);
  return text;
}

}  // namespace astra
