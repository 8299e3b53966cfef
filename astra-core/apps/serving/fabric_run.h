// Moves the KV caches of separate pools on a simulated network, with a job
// beside them where one is given.

#ifndef ASTRA_CORE_APPS_SERVING_FABRIC_RUN_H_
#define ASTRA_CORE_APPS_SERVING_FABRIC_RUN_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/serving/serving_fabric_options.h"
#include "astra-core/apps/serving/serving_pools.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/base/log.h"
#include "astra-core/serving/fabric/background_job.h"
#include "astra-core/serving/fabric/serving_fabric.h"
#include "network-frontends/network_backend.h"
#include "nlohmann/json_fwd.hpp"

namespace astra {

class FabricRun {
 public:
  // `options` and `pools` must outlive the object. Requires a fidelity that has
  // a network. Errors: those of the readers; InvalidArgument for a job that
  // shares GPUs with the pools, or has others than the cluster.
  static absl::StatusOr<std::unique_ptr<FabricRun>> Create(
      const FabricOptions& options, const ServingJob& job, ServingPools& pools,
      Warnings* warnings);

  FabricRun(const FabricRun&) = delete;
  FabricRun& operator=(const FabricRun&) = delete;

  // Lets `side` move its caches here. The object must outlive the run.
  void Use(DecodeSide& side);

  // Append what became of the network and the job, after the run.
  void Describe(std::string* page) const;
  void AddTo(nlohmann::ordered_json& json) const;

 private:
  FabricRun(const FabricOptions& options, ServingPools& pools,
            NetworkOptions network);

  absl::Status ReadJob(const ServingJob& job, Warnings* warnings);
  absl::Status Drive(ServingProcess& process);

  const FabricOptions& options_;
  ServingPools& pools_;
  const NetworkOptions network_options_;
  std::unique_ptr<NetworkBackend> network_;
  ServingFabric fabric_;
  std::optional<BackgroundJob> job_;
  JobTimes times_;
  TimePs alone_;  // Time of an iteration of the job without serving.
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_FABRIC_RUN_H_
