#include "astra-core/apps/plan/plan.h"

#include <variant>

namespace astra {

GenWorkloadOptions WorkloadOf(const SimaiPlannerOptions& options,
                              const Layout& layout) {
  GenWorkloadOptions workload =
      options.workloads[static_cast<size_t>(layout.zero)];
  workload.setup = SetupOf(options.job, layout);
  const Zero zero = std::get<TrainingSetup>(workload.setup).zero;
  workload.load = options.job.loads[static_cast<size_t>(zero)];
  return workload;
}

RunOptions RunOf(RunOptions run, const Layout& layout) {
  if (layout.expert == 1) run.dispatcher.reset();
  return run;
}

}  // namespace astra
