// Serves with a deployment on a simulated network: KV caches, collectives of
// replicas that span servers and weights are messages on it, with a job beside
// them where one is given.

#ifndef ASTRA_CORE_APPS_SERVING_FABRIC_RUN_H_
#define ASTRA_CORE_APPS_SERVING_FABRIC_RUN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/serving/beside_job.h"
#include "astra-core/apps/serving/serving_cluster.h"
#include "astra-core/apps/serving/serving_fabric_options.h"
#include "astra-core/apps/serving/serving_pools.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/base/log.h"
#include "astra-core/serving/fabric/kv_messages.h"
#include "astra-core/serving/fabric/serving_fabric.h"
#include "astra-core/serving/fabric/step_messages.h"
#include "astra-core/serving/fabric/weight_messages.h"
#include "network-frontends/network_backend.h"
#include "nlohmann/json_fwd.hpp"

namespace astra {

// The network on which a deployment serves.
struct FabricNetwork {
  std::unique_ptr<NetworkBackend> network;
  // Makes idle networks like it, on which messages are timed alone.
  NewNetwork new_idle;
};

class FabricRun final : public ServingNetwork {
 public:
  // `options`, `cluster` and `pools` must outlive the object; `pools` is null
  // where one pool does all. `network` has a view of a network that several
  // jobs share; without one the deployment gets a network of its own, or shares
  // it with the job of --beside. Requires a fidelity that has a network.
  // Errors: those of the readers and of BesideJob; InvalidArgument where
  // nothing is on the network.
  static absl::StatusOr<std::unique_ptr<FabricRun>> Create(
      const FabricOptions& options, const ServingJob& job,
      ServingCluster& cluster, ServingPools* pools, FabricNetwork network,
      Warnings* warnings);

  FabricRun(const FabricRun&) = delete;
  FabricRun& operator=(const FabricRun&) = delete;

  // Lets `side` move its caches here. The object must outlive the run.
  void Use(DecodeSide& side);

  // Lets replicas load their weights here, by StartOfWeights().
  void Load(std::vector<WeightLoad> loads);
  StartWeights StartOfWeights();

  StageNetwork* StepsOf(size_t pool, ReplicaTimes& times) override;
  absl::StatusOr<bool> GoOn(ServingProcess& process) override;
  double LostSeconds(size_t pool) const override;

  // Returns the first error of the messages of steps.
  absl::Status status() const;
  // Returns when each replica had its weights; empty without Load().
  absl::Span<const TimePs> load_times() const;

  // Append what became of the network and the job, after the run.
  void Describe(std::string* page) const;
  void AddTo(nlohmann::ordered_json& json) const;

 private:
  FabricRun(const FabricOptions& options, ServingCluster& cluster,
            ServingPools* pools, FabricNetwork network,
            std::unique_ptr<BesideJob> beside);

  int64_t kv_bytes() const { return caches_ ? caches_->bytes_sent() : 0; }
  int64_t step_bytes() const;
  // Returns by how much longer than alone the messages of steps took, over
  // their time alone.
  double StepsSlowed() const;

  const FabricOptions& options_;
  ServingCluster& cluster_;
  ServingPools* const pools_;
  const std::unique_ptr<BesideJob> beside_;  // Null without --beside.
  const FabricNetwork network_;
  ServingFabric fabric_;
  std::optional<KvMessages> caches_;
  std::optional<WeightMessages> weights_;
  std::array<std::unique_ptr<StepMessages>, 2> steps_;  // By pool.
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_FABRIC_RUN_H_
