#include "collectives/measurements/comparison.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "astra-core/base/check.h"
#include "astra-core/base/csv.h"
#include "collectives/measurements/comparison_plot.h"
#include "collectives/measurements/error_summary.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

constexpr std::string_view kResultColumns[] = {
    "predicted_us", "error_pct", "algorithm", "protocol", "status"};

bool IsResultColumn(const std::string& name) {
  const auto* const end = std::end(kResultColumns);
  return std::find(std::begin(kResultColumns), end, name) != end;
}

// Returns two decimals; zero has no sign.
std::string FormatPercent(double percent) {
  const std::string text = fmt::format("{:.2f}", percent);
  return text == "-0.00" ? "0.00" : text;
}

}  // namespace

std::string FormatComparison(const MeasuredTable& table,
                             absl::Span<const Outcome> outcomes) {
  ASTRA_CHECK(outcomes.size() == table.rows.size(), "{} outcomes of {} rows",
              outcomes.size(), table.rows.size());
  const auto join = [&table](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (!IsResultColumn(table.columns[i])) line += CsvField(cells[i]) + ',';
    }
    return line;
  };
  std::string csv = join(table.columns);
  csv += fmt::format("{}\n", fmt::join(kResultColumns, ","));
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    csv += join(table.rows[i].cells);
    if (outcome.ok()) {
      ASTRA_CHECK(table.rows[i].problem.empty(), "row {}: {}", i,
                  table.rows[i].problem);
      csv += fmt::format("{},{},", outcome.predicted_us,
                         FormatPercent(ErrorPercent(table.rows[i], outcome)));
    } else {
      csv += ",,";
    }
    csv += fmt::format("{},{},{}\n", CsvField(outcome.algorithm),
                       CsvField(outcome.protocol), CsvField(outcome.status));
  }
  return csv;
}

std::vector<NamedFile> ComparisonFiles(const MeasuredTable& table,
                                       absl::Span<const Outcome> outcomes) {
  return {
      {"comparison.csv", FormatComparison(table, outcomes)},
      {"comparison.svg", PlotComparison(table, outcomes)},
      {"summary.txt", FormatErrorSummary(table, outcomes)},
  };
}

}  // namespace astra
