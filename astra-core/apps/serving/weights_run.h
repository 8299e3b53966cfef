// Loads the weights of the replicas of a deployment before their first step.

#ifndef ASTRA_CORE_APPS_SERVING_WEIGHTS_RUN_H_
#define ASTRA_CORE_APPS_SERVING_WEIGHTS_RUN_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/serving/serving_cluster.h"
#include "astra-core/apps/serving/serving_fabric_options.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/apps/serving/serving_pool_options.h"
#include "astra-core/base/units.h"
#include "astra-core/serving/weight_loading.h"
#include "nlohmann/json_fwd.hpp"
#include "workload/serving/serving_options.h"

namespace astra {

class WeightsRun {
 public:
  // Errors: those of BytesOfWeights and of LoadTimes.
  static absl::StatusOr<std::unique_ptr<WeightsRun>> Create(
      WeightSource source, const ServingJob& job, const DecodePool* decode,
      ServingCluster& cluster);

  // Returns the load of each replica, for a network.
  const std::vector<WeightLoad>& loads() const { return loads_; }

  // Returns what loads in the closed form. The object must outlive the result.
  StartWeights ClosedForm();

  // Append how long loading took: the times of replicas that loaded, or without
  // `on_network` the closed form.
  void Describe(absl::Span<const TimePs> on_network, std::string* page) const;
  void AddTo(absl::Span<const TimePs> on_network,
             nlohmann::ordered_json& json) const;

 private:
  WeightsRun(WeightSource source, std::vector<WeightPlace> places)
      : source_(source), places_(std::move(places)) {}

  const WeightSource source_;
  const std::vector<WeightPlace> places_;
  std::vector<WeightLoad> loads_;
  std::vector<TimePs> times_;  // Closed form.
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_WEIGHTS_RUN_H_
