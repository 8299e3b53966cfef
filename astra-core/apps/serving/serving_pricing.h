// Prices the operators and collectives of the replicas that share a cluster.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_PRICING_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_PRICING_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "astra-core/apps/gen_workload_times.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/base/log.h"
#include "astra-core/planner/group_seconds.h"
#include "astra-core/serving/replica_steps.h"
#include "collectives/inference_engines/serving_facts.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/systems/system_spec.h"
#include "topology/routes.h"
#include "topology/topology.h"

namespace astra {

// The object does not move, since its parts refer to one another.
class ServingPricing {
 public:
  // `num_gpus`: GPUs of all replicas together. Errors: those of GpuTimes;
  // InvalidArgument for a precision that the GPU has no products of.
  static absl::StatusOr<std::unique_ptr<ServingPricing>> Create(
      const ServingJob& job, SystemSpec system, Topology topology,
      int64_t num_gpus, Warnings* warnings);

  ServingPricing(const ServingPricing&) = delete;
  ServingPricing& operator=(const ServingPricing&) = delete;

  const ServingFacts& facts() const { return facts_; }
  const SystemSpec& system() const { return system_; }
  PriceSources sources();

 private:
  ServingPricing(const ServingJob& job, SystemSpec system, Topology topology,
                 int64_t num_gpus);

  const ServingFacts facts_;
  const double kernel_us_;
  const SystemSpec system_;
  const Topology topology_;
  Routes routes_;
  NcclOptions graph_options_;
  NcclOptions eager_options_;
  GroupSeconds graph_;
  GroupSeconds eager_;
  std::unique_ptr<GpuTimes> gpu_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_PRICING_H_
