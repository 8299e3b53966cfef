// Times the steps of the replicas of a job, on its cluster.

#ifndef ASTRA_CORE_APPS_SERVING_REPLICA_TIMES_H_
#define ASTRA_CORE_APPS_SERVING_REPLICA_TIMES_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/apps/serving/serving_pricing.h"
#include "astra-core/base/log.h"
#include "astra-core/serving/replica_steps.h"

namespace astra {

class ReplicaTimes {
 public:
  // Errors: those of the readers of topologies and systems, of ServingPricing
  // and of ReplicaSteps; InvalidArgument for a topology with another number of
  // GPUs.
  static absl::StatusOr<std::unique_ptr<ReplicaTimes>> Create(
      const ServingJob& job, Warnings* warnings);

  ReplicaSteps& steps() { return *steps_; }

  // Returns the name of the system that collectives are timed on; nothing for a
  // replica of one GPU, which has none.
  std::optional<std::string> system_name() const;
  // Returns whether the steps tell what they send between servers: the job is
  // on a network, and each replica takes several whole servers.
  bool sends_between_servers() const { return sends_between_servers_; }

 private:
  ReplicaTimes() = default;

  bool has_collectives_ = false;
  bool sends_between_servers_ = false;
  std::unique_ptr<ServingPricing> pricing_;
  std::unique_ptr<ReplicaSteps> steps_;  // Refers to pricing_.
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_REPLICA_TIMES_H_
