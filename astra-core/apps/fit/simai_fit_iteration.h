// Writes the framework file of a user's own job from iterations that were
// measured there.

#ifndef ASTRA_CORE_APPS_FIT_SIMAI_FIT_ITERATION_H_
#define ASTRA_CORE_APPS_FIT_SIMAI_FIT_ITERATION_H_

#include "absl/status/statusor.h"
#include "astra-core/apps/fit/simai_fit_options.h"
#include "astra-core/apps/fit/simai_fit_regressors.h"

namespace astra {

// Fits the constants of a job to its measured iterations. A trace of an
// iteration adds an observation: how long the kernels of its rank compute. The
// files of the report are
//
//   NAME.yaml       the framework, for gen_workload --framework
//   iterations.csv  place, measured_s, before_s, fitted_s, error_pct; before_s
//                   is predicted without the fit
//   summary.txt     the page
//
// Errors: those of ParseIterations, MeasuredJob and ParseKinetoTrace;
// InvalidArgument for iterations of several frameworks or of one that is no
// bundled one, for iterations that are shorter than the job takes at full speed
// or differ by less, and for those that only a load below kLeastFittedLoad
// explains.
absl::StatusOr<FitReport> ReportIterations(const SimaiFitOptions& options);

inline constexpr double kLeastFittedLoad = 0.1;

}  // namespace astra

#endif  // ASTRA_CORE_APPS_FIT_SIMAI_FIT_ITERATION_H_
