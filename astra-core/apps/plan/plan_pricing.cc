#include "astra-core/apps/plan/plan_pricing.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/run_inputs.h"
#include "astra-core/base/status_macros.h"
#include "collectives/dispatchers/dispatcher.h"
#include "collectives/nccl/system_topology.h"
#include "fmt/core.h"
#include "workload/modules/experts.h"

namespace astra {
namespace {

// Returns NCCL's options with the dispatcher that was asked for.
absl::StatusOr<NcclOptions> NcclOf(const SimaiPlannerOptions& options) {
  NcclOptions nccl = options.run.nccl;
  if (!options.run.dispatcher) return nccl;
  ExpertDispatch& dispatch = nccl.dispatch.emplace();
  ASTRA_ASSIGN_OR_RETURN(dispatch.dispatcher,
                         LoadDispatcher(*options.run.dispatcher));
  dispatch.routing =
      RoutingWithBytes(options.job.model, options.job.setups[0].fp8_dispatch);
  return nccl;
}

}  // namespace

absl::StatusOr<RunCluster> ReadPlanCluster(const SimaiPlannerOptions& options) {
  const int64_t num_gpus = options.job.num_gpus();
  ASTRA_ASSIGN_OR_RETURN(RunCluster cluster,
                         ReadCluster(options.run, num_gpus));
  if (cluster.topology.num_gpus() != num_gpus) {
    return absl::InvalidArgumentError(
        fmt::format("--gpus is {}, but {} has {}", num_gpus,
                    options.run.cluster_name(), cluster.topology.num_gpus()));
  }
  if (const std::optional<std::string> text = OtherGpus(
          options.job.gpu.name, options.run.cluster_name(), cluster.topology)) {
    return absl::InvalidArgumentError(*text);
  }
  return cluster;
}

absl::StatusOr<std::unique_ptr<PlanPricing>> PlanPricing::Create(
    const SimaiPlannerOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(RunCluster cluster, ReadPlanCluster(options));
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
  ASTRA_ASSIGN_OR_RETURN(NcclOptions nccl, NcclOf(options));
  return std::unique_ptr<PlanPricing>(
      new PlanPricing(options.job.num_gpus(), std::move(cluster),
                      *std::move(system), std::move(nccl), std::move(times)));
}

PlanPricing::PlanPricing(int64_t num_gpus, RunCluster cluster,
                         SystemSpec system, NcclOptions nccl,
                         std::unique_ptr<GpuTimes> times)
    : cluster_(std::move(cluster)),
      system_(std::move(system)),
      nccl_(std::move(nccl)),
      times_(std::move(times)),
      routes_(cluster_.topology),
      groups_(system_, nccl_, routes_, num_gpus) {}

}  // namespace astra
