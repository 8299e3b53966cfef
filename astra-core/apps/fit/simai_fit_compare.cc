#include "astra-core/apps/fit/simai_fit_compare.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/append_format.h"
#include "astra-core/base/csv.h"
#include "astra-core/base/status_macros.h"
#include "collectives/measurements/error_summary.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "workload/kernels/surface_library.h"

namespace astra {
namespace {

constexpr double kUsPerMs = 1000;
constexpr std::string_view kOk = "ok: ";

// Errors in percent under the headings of the summary.
using Errors = std::map<std::string, std::vector<double>>;

struct KernelOutcome {
  double predicted_ms = 0;  // 0: not predicted.
  double error_pct = 0;
  std::string status;

  bool ok() const { return status.rfind(kOk, 0) == 0; }
};

KernelOutcome OutcomeOf(const KernelRow& row,
                        const KernelPredictor& predictor) {
  KernelOutcome outcome;
  outcome.status = row.problem;
  if (!row.problem.empty()) return outcome;
  const absl::StatusOr<KernelEstimate> estimate = predictor.Estimate(row.call);
  if (!estimate.ok()) {
    outcome.status = std::string(estimate.status().message());
    return outcome;
  }
  outcome.predicted_ms = estimate->time_us / kUsPerMs;
  if (row.latency_ms <= 0) {
    outcome.status = "the measured time is 0";
    return outcome;
  }
  outcome.error_pct = 100 * (outcome.predicted_ms / row.latency_ms - 1);
  outcome.status = fmt::format("{}{}", kOk, DescribeSource(*estimate));
  return outcome;
}

void AppendErrors(std::string_view heading, const Errors& errors,
                  std::string& text) {
  AppendFormat(&text, "{:<44} {:>7} {:>9} {:>9} {:>9}\n", heading, "rows",
               "median", "|median|", "|p90|");
  for (const auto& [name, of_name] : errors) {
    const ErrorSummary summary = SummarizeErrors(of_name);
    AppendFormat(&text, "  {:<42} {:>7} {:>+9.2f} {:>9.2f} {:>9.2f}\n", name,
                 summary.num_rows, summary.median, summary.median_abs,
                 summary.p90_abs);
  }
}

}  // namespace

KernelComparison CompareKernels(const KernelTable& table,
                                const KernelPredictor& predictor) {
  KernelComparison comparison;
  for (const std::string& column : table.columns) {
    comparison.csv += CsvField(column) + ',';
  }
  comparison.csv += "predicted_ms,error_pct,status\n";
  Errors all;
  Errors by_words;
  Errors by_source;
  std::map<std::string, size_t> others;
  for (const KernelRow& row : table.rows) {
    const KernelOutcome outcome = OutcomeOf(row, predictor);
    for (const std::string& cell : row.cells) {
      comparison.csv += CsvField(cell) + ',';
    }
    const bool is_predicted = outcome.predicted_ms > 0;
    AppendFormat(
        &comparison.csv, "{},{},{}\n",
        is_predicted ? fmt::format("{:.6g}", outcome.predicted_ms) : "",
        outcome.ok() ? fmt::format("{:.2f}", outcome.error_pct) : "",
        CsvField(outcome.status));
    if (!outcome.ok()) {
      ++others[outcome.status];
      continue;
    }
    all["all"].push_back(outcome.error_pct);
    by_words[fmt::format("{} {}", row.call.family->name,
                         fmt::join(row.call.words, "/"))]
        .push_back(outcome.error_pct);
    by_source[outcome.status.substr(kOk.size())].push_back(outcome.error_pct);
  }
  comparison.num_rows = table.rows.size();
  AppendErrors("errors in percent", all, comparison.summary);
  AppendErrors("by kernel", by_words, comparison.summary);
  AppendErrors("by source", by_source, comparison.summary);
  for (const auto& [reason, count] : others) {
    AppendFormat(&comparison.summary, "without an error   {:>7}  {}\n", count,
                 reason);
  }
  return comparison;
}

absl::StatusOr<KernelComparison> CompareKernelTable(
    const SimaiFitOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const KernelTable table,
                         ReadKernelTable(options.table));
  const SurfaceLibrary& library = BundledSurfaces();
  std::string backend = options.backend;
  const bool is_known =
      std::find(library.backends().begin(), library.backends().end(),
                table.backend) != library.backends().end();
  if (backend.empty() && is_known) backend = table.backend;
  KernelPredictor predictor(options.gpu, library, backend, options.leave_out);
  for (const std::string& file : options.own_tables) {
    ASTRA_ASSIGN_OR_RETURN(const KernelTable own, ReadKernelTable(file));
    ASTRA_ASSIGN_OR_RETURN(std::vector<SurfaceTimes> surfaces,
                           SurfacesOf(own, options.gpu.name));
    for (SurfaceTimes& times : surfaces) predictor.AddOwn(std::move(times));
  }
  return CompareKernels(table, predictor);
}

}  // namespace astra
