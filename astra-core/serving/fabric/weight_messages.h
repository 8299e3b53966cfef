// Loads the weights of replicas as messages on the network that serving shares.
//
//   WeightMessages weights(fabric, loads);
//   options.load_weights = [&](uint32_t replica) {
//     return weights.Start(replica);
//   };
//
// Model. A replica's load is one message for each flow, all of which are sent
// at time 0; it has loaded when the last arrives.

#ifndef ASTRA_CORE_SERVING_FABRIC_WEIGHT_MESSAGES_H_
#define ASTRA_CORE_SERVING_FABRIC_WEIGHT_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "astra-core/serving/fabric/serving_fabric.h"
#include "astra-core/serving/weight_loading.h"

namespace astra {

class WeightMessages {
 public:
  // `fabric` must outlive the object. `loads` has one for each replica.
  WeightMessages(ServingFabric& fabric, std::vector<WeightLoad> loads)
      : fabric_(fabric), loads_(std::move(loads)), times_(loads_.size()) {}

  // Starts to load; see StartWeights.
  std::optional<TimePs> Start(uint32_t replica);

  // Returns when each replica had its weights; 0 if it did not load any.
  absl::Span<const TimePs> times() const { return times_; }

  int64_t bytes_sent() const { return bytes_sent_; }

 private:
  ServingFabric& fabric_;
  const std::vector<WeightLoad> loads_;
  std::vector<TimePs> times_;
  int64_t bytes_sent_ = 0;
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_FABRIC_WEIGHT_MESSAGES_H_
