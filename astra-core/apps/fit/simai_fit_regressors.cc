#include "astra-core/apps/fit/simai_fit_regressors.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/regressors/batch_time.h"
#include "workload/regressors/estimator_target.h"
#include "workload/regressors/operator_regressors.h"
#include "workload/regressors/sampling_table.h"

namespace astra {
namespace {

// The errors of one table, pass and kind of trees.
struct FoldRow {
  std::string table;
  SampledPass pass;
  TreeKind kind;
  HeldOutErrors errors;
};

std::string_view Name(TreeKind kind) {
  return kTreeKindNames[static_cast<size_t>(kind)];
}
std::string_view Name(SampledPass pass) {
  return kSampledPassNames[static_cast<size_t>(pass)];
}

absl::StatusOr<std::vector<FoldRow>> RowsOf(const std::string& file,
                                            const SimaiFitOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
  ASTRA_ASSIGN_OR_RETURN(const SamplingTable table,
                         ParseSamplingTable(file, contents));
  std::vector<FoldRow> rows;
  for (const auto& [pass, samples] : table.passes) {
    for (const TreeKind kind : options.trees) {
      absl::StatusOr<HeldOutErrors> errors =
          CrossValidate(samples, kind, options.folds);
      if (!errors.ok()) {
        return absl::Status(
            errors.status().code(),
            fmt::format("{}: {}", file,
                        std::string(errors.status().message())));
      }
      rows.push_back({table.name, pass, kind, *errors});
    }
  }
  return rows;
}

// Returns the mean over tables and passes of the errors of the better trees.
double MeanOfBest(const std::vector<FoldRow>& rows) {
  std::map<std::pair<std::string, SampledPass>, double> best;
  for (const FoldRow& row : rows) {
    const auto [found, is_new] =
        best.try_emplace({row.table, row.pass}, row.errors.mean);
    if (!is_new) found->second = std::min(found->second, row.errors.mean);
  }
  double sum = 0;
  for (const auto& [_, error] : best) sum += error;
  return sum / static_cast<double>(best.size());
}

}  // namespace

absl::StatusOr<FitReport> ReportTarget(const SimaiFitOptions& options) {
  const std::string& file = options.files.front();
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
  ASTRA_ASSIGN_OR_RETURN(const EstimatorTarget target,
                         ParseEstimatorTarget(file, contents, options.base));
  for (const std::string& folder :
       {target.operator_folder, target.nccl_folder}) {
    if (IsFolder(folder)) continue;
    return absl::NotFoundError(
        fmt::format("{}: no folder {} (--base says where its folders begin)",
                    file, folder));
  }
  FitReport report;
  const TreeKind kind = options.trees.front();
  OperatorRegressors operators(target.operator_folder, target.gpu, kind,
                               report.warnings);
  OperatorRegressors collectives(target.nccl_folder, target.gpu, kind,
                                 report.warnings);
  ASTRA_ASSIGN_OR_RETURN(const BatchTime batch,
                         BatchTimeOf(target, operators, collectives));
  std::string csv = "component,time_us\n";
  for (const BatchComponent& component : batch.components) {
    AppendFormat(&csv, "{},{:.1f}\n", component.name, component.time_us);
    AppendFormat(&report.page, "{:<36} {:>14.1f} us\n", component.name,
                 component.time_us);
  }
  AppendFormat(&csv, "total,{:.1f}\n", batch.total_us);
  AppendFormat(&report.page, "{:<36} {:>14.1f} us\n", "total", batch.total_us);
  report.files.push_back({"components.csv", std::move(csv)});
  report.result = fmt::format("{:.0f} us", batch.total_us);
  return report;
}

absl::StatusOr<FitReport> ReportFolds(const SimaiFitOptions& options) {
  std::vector<FoldRow> rows;
  for (const std::string& file : options.files) {
    ASTRA_ASSIGN_OR_RETURN(std::vector<FoldRow> more, RowsOf(file, options));
    rows.insert(rows.end(), more.begin(), more.end());
  }
  FitReport report;
  std::string csv =
      "table,pass,trees,samples,mean_error_pct,median_error_pct,"
      "p90_error_pct\n";
  report.page = fmt::format("errors on samples that were held out, {} folds\n",
                            options.folds);
  AppendFormat(&report.page, "{:<32} {:<9} {:<8} {:>8} {:>8} {:>8} {:>8}\n",
               "table", "pass", "trees", "samples", "mean", "median", "p90");
  for (const FoldRow& row : rows) {
    const HeldOutErrors& errors = row.errors;
    AppendFormat(&csv, "{},{},{},{},{:.3f},{:.3f},{:.3f}\n", row.table,
                 Name(row.pass), Name(row.kind), errors.samples, errors.mean,
                 errors.median, errors.p90);
    AppendFormat(&report.page,
                 "{:<32} {:<9} {:<8} {:>8} {:>6.2f} % {:>6.2f} % {:>6.2f} %\n",
                 row.table, Name(row.pass), Name(row.kind), errors.samples,
                 errors.mean, errors.median, errors.p90);
  }
  report.files.push_back({"errors.csv", std::move(csv)});
  report.result =
      fmt::format("{:.2f} % mean error of the better trees", MeanOfBest(rows));
  return report;
}

}  // namespace astra
