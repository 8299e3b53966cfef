#include "astra-core/apps/plan/plan_pricing.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "collectives/nccl/system_topology.h"
#include "fmt/core.h"

namespace astra {

absl::StatusOr<std::unique_ptr<PlanPricing>> PlanPricing::Create(
    const SimaiPlannerOptions& options) {
  const int64_t num_gpus = options.job.num_gpus();
  ASTRA_ASSIGN_OR_RETURN(RunCluster cluster,
                         ReadCluster(options.run, num_gpus));
  if (cluster.topology.num_gpus() != num_gpus) {
    return absl::InvalidArgumentError(
        fmt::format("--gpus is {}, but {} has {}", num_gpus,
                    options.run.cluster_name(), cluster.topology.num_gpus()));
  }
  std::optional<SystemSpec> system = cluster.system;
  if (!system) {
    ASTRA_ASSIGN_OR_RETURN(system, DeriveSystem(cluster.topology));
  }
  Warnings ignored;  // The options have them already.
  // As gen_workload chooses them.
  const bool measured = options.workloads.front().attention_speed == 1;
  ASTRA_ASSIGN_OR_RETURN(
      std::unique_ptr<GpuTimes> times,
      GpuTimes::Create(options.job.gpu, {}, "",
                       {.use = KernelUse::kTraining, .attention = measured},
                       &ignored));
  return std::unique_ptr<PlanPricing>(new PlanPricing(
      options, std::move(cluster), *std::move(system), std::move(times)));
}

PlanPricing::PlanPricing(const SimaiPlannerOptions& options, RunCluster cluster,
                         SystemSpec system, std::unique_ptr<GpuTimes> times)
    : cluster_(std::move(cluster)),
      system_(std::move(system)),
      times_(std::move(times)),
      routes_(cluster_.topology),
      groups_(system_, options.run.nccl, routes_, options.job.num_gpus()) {}

}  // namespace astra
