// Holds the prices that estimates of layouts need: times of the GPU's operators
// and of the cluster's collectives.

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_PRICING_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_PRICING_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "astra-core/apps/gen_workload_times.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/apps/run_request.h"
#include "astra-core/planner/group_seconds.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/systems/system_spec.h"
#include "topology/routes.h"
#include "workload/operators/compute_model.h"

namespace astra {

// Reads the cluster of the job. Errors: those of ReadCluster; InvalidArgument
// for a topology with another number of GPUs than the job, or another type.
absl::StatusOr<RunCluster> ReadPlanCluster(const SimaiPlannerOptions& options);

class PlanPricing {
 public:
  // Errors: those of ReadPlanCluster, DeriveSystem and LoadDispatcher.
  static absl::StatusOr<std::unique_ptr<PlanPricing>> Create(
      const SimaiPlannerOptions& options);

  GroupSeconds& groups() { return groups_; }
  const ComputeModel& model() const { return times_->model(); }

 private:
  PlanPricing(int64_t num_gpus, RunCluster cluster, SystemSpec system,
              NcclOptions nccl, std::unique_ptr<GpuTimes> times);

  const RunCluster cluster_;
  const SystemSpec system_;
  const NcclOptions nccl_;
  const std::unique_ptr<GpuTimes> times_;
  Routes routes_;
  GroupSeconds groups_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_PLAN_PRICING_H_
