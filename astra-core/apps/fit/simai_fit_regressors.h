// Writes the reports of simai_fit on regressors: times of batches, and errors
// on held-out samples.

#ifndef ASTRA_CORE_APPS_FIT_SIMAI_FIT_REGRESSORS_H_
#define ASTRA_CORE_APPS_FIT_SIMAI_FIT_REGRESSORS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/fit/simai_fit_options.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"

namespace astra {

struct FitReport {
  std::vector<NamedFile> files;
  std::string page;    // Text for the screen.
  std::string result;  // Words of the last line, such as "9508810 us".
  Warnings warnings;
};

// Returns the time of the batch of a target by component, as components.csv and
// as a page. Errors: those of ParseEstimatorTarget and BatchTimeOf.
absl::StatusOr<FitReport> ReportTarget(const SimaiFitOptions& options);

// Returns the errors on held-out samples of each table, pass and kind of trees,
// as errors.csv and as a page. Errors: those of ParseSamplingTable and
// CrossValidate.
absl::StatusOr<FitReport> ReportFolds(const SimaiFitOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_FIT_SIMAI_FIT_REGRESSORS_H_
