// Fits trees to tables of measured operators, and writes them as a file that
// gen_workload takes like a table.

#ifndef ASTRA_CORE_APPS_FIT_SIMAI_FIT_TRAIN_H_
#define ASTRA_CORE_APPS_FIT_SIMAI_FIT_TRAIN_H_

#include "absl/status/statusor.h"
#include "astra-core/apps/fit/simai_fit_options.h"
#include "astra-core/apps/fit/simai_fit_regressors.h"

namespace astra {

// Returns NAME.trees and the errors on held-out samples by class, as errors.csv
// and as a page. Errors: those of ReadFile, ParseAnyOperatorTable and
// FitOperators.
absl::StatusOr<FitReport> ReportTraining(const SimaiFitOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_FIT_SIMAI_FIT_TRAIN_H_
