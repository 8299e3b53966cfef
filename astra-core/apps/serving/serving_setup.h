// Sets up what a deployment has beside its replicas: the pool that decodes on
// other GPUs than those that compute prompts, the network that all share, and
// the weights that are loaded first.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_SETUP_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_SETUP_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/serving/fabric_run.h"
#include "astra-core/apps/serving/serving_cluster.h"
#include "astra-core/apps/serving/serving_fabric_options.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/apps/serving/serving_pool_options.h"
#include "astra-core/apps/serving/serving_pools.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/apps/serving/weights_run.h"
#include "astra-core/base/log.h"
#include "nlohmann/json_fwd.hpp"

namespace astra {

// For one call of RunServing(). What a deployment has not is null.
class ServingSetup {
 public:
  // Returns what `job` has beside it; `decode` is empty where one pool does
  // both. `network`: see FabricRun. All but the warnings and `network` must
  // outlive the result. Errors: those of
  // ServingCluster, ServingPools, WeightsRun and FabricRun.
  static absl::StatusOr<std::unique_ptr<ServingSetup>> Create(
      const ServingJob& job, const std::optional<DecodePool>& decode,
      const FabricOptions& options, Warnings* warnings,
      FabricNetwork network = {});

  ServingSetup() = default;
  ServingSetup(const ServingSetup&) = delete;
  ServingSetup& operator=(const ServingSetup&) = delete;

  // Returns what RunServing() needs. The object must outlive the run.
  ServingParts parts();

  // Returns what went wrong with transfers and messages during the run.
  absl::Status status() const;

  // Append what became of the weights, the network and the job, after the run.
  void Describe(std::string* page) const;
  void AddTo(nlohmann::ordered_json& json) const;

 private:
  std::unique_ptr<ServingCluster> cluster_;
  std::unique_ptr<ServingPools> pools_;
  std::unique_ptr<WeightsRun> weights_;
  std::unique_ptr<FabricRun> fabric_;
  std::unique_ptr<DecodeSide> side_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_SETUP_H_
