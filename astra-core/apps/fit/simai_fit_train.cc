#include "astra-core/apps/fit/simai_fit_train.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/operators/fitted_operators.h"
#include "workload/operators/gpu_library.h"
#include "workload/operators/operator_table.h"
#include "workload/regressors/operator_trees.h"

namespace astra {
namespace {

// Reads all tables. Names of GPUs become those of the library, if they are
// known there.
absl::StatusOr<OperatorSamples> ReadSamples(const SimaiFitOptions& options,
                                            Warnings* warnings) {
  OperatorSamples all;
  for (const std::string& file : options.files) {
    ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
    const std::string gpu = NamesItsGpu(file, contents) ? "" : options.gpu.name;
    ASTRA_ASSIGN_OR_RETURN(
        OperatorSamples samples,
        ParseAnyOperatorTable(file, contents, gpu, warnings));
    for (OperatorSample& sample : samples) {
      if (IsNamed(sample.gpu, options.gpu.name, options.gpu.aliases)) {
        sample.gpu = options.gpu.name;
      }
      all.push_back(std::move(sample));
    }
  }
  return all;
}

}  // namespace

absl::StatusOr<FitReport> ReportTraining(const SimaiFitOptions& options) {
  FitReport report;
  ASTRA_ASSIGN_OR_RETURN(OperatorSamples samples,
                         ReadSamples(options, &report.warnings));
  ASTRA_ASSIGN_OR_RETURN(
      const FittedTrees fitted,
      FitOperators(std::move(samples), options.gpu, options.trees.front(),
                   options.folds, &report.warnings));
  std::string csv =
      "operators,samples,mean_error_pct,median_error_pct,p90_error_pct\n";
  report.page = fmt::format("errors on samples that were held out, {} folds\n",
                            options.folds);
  AppendFormat(&report.page, "{:<40} {:>8} {:>8} {:>8} {:>8}\n", "operators",
               "samples", "mean", "median", "p90");
  for (const auto& [kind, errors] : fitted.errors) {
    const std::string name = FormatClass(kind);
    AppendFormat(&csv, "{},{},{:.3f},{:.3f},{:.3f}\n", name, errors.samples,
                 errors.mean, errors.median, errors.p90);
    AppendFormat(&report.page,
                 "{:<40} {:>8} {:>6.2f} % {:>6.2f} % {:>6.2f} %\n", name,
                 errors.samples, errors.mean, errors.median, errors.p90);
  }
  const size_t count = fitted.errors.size();
  report.result = fmt::format("trees of {} class{} of operators", count,
                              count == 1 ? "" : "es");
  report.files.push_back(
      {options.name + ".trees", FormatFittedOperators(fitted.operators)});
  report.files.push_back({"errors.csv", std::move(csv)});
  return report;
}

}  // namespace astra
