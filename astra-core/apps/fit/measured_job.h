// Predicts the time of a measured iteration from the constants of its job.

#ifndef ASTRA_CORE_APPS_FIT_MEASURED_JOB_H_
#define ASTRA_CORE_APPS_FIT_MEASURED_JOB_H_

#include <string>

#include "absl/status/statusor.h"
#include "astra-core/apps/fit/constants_fit.h"
#include "astra-core/apps/fit/iteration_file.h"
#include "astra-core/apps/gen_workload_options.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/base/log.h"
#include "astra-core/engine/result.h"

namespace astra {

class MeasuredJob {
 public:
  // Reads the options of an iteration. Options that only change what the
  // programs write are refused, and so is --load, which is what is sought.
  //
  // Errors: InvalidArgument "FILE:LINE:COLUMN: PROGRAM: ..." with what the
  // program would say of its options.
  static absl::StatusOr<MeasuredJob> Create(const MeasuredIteration& iteration,
                                            Warnings* warnings);

  // As --framework names it.
  const std::string& framework() const { return framework_; }
  bool has_experts() const { return workload_.model.experts.has_value(); }

  // Returns the constants that the options and the framework give.
  JobConstants constants() const;

  // Predicts the iteration. Errors: those of the programs, at the place of the
  // iteration; Aborted if the run does not finish.
  absl::StatusOr<SimulationResult> Predict(const JobConstants& constants) const;

  // Predicts for how many seconds of the iteration the kernels of `rank` that
  // do not communicate run. Errors: those of Predict; InvalidArgument if the
  // job has no such rank.
  absl::StatusOr<double> ComputingSeconds(const JobConstants& constants,
                                          uint32_t rank) const;

 private:
  MeasuredJob() = default;

  std::string place_;
  std::string framework_;
  GenWorkloadOptions workload_;
  RunOptions run_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_FIT_MEASURED_JOB_H_
