// What is told to a simulation of serving: its pools, and how requests come.

#ifndef WORKLOAD_SERVING_SERVING_OPTIONS_H_
#define WORKLOAD_SERVING_SERVING_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "astra-core/base/units.h"
#include "workload/serving/kv_transfer.h"
#include "workload/serving/pool.h"

namespace astra {

// Starts to load the weights of a replica at time 0. Replicas are numbered over
// both pools. Returns how long that takes; none if the caller of ServingProcess
// says when it has ended.
using StartWeights = std::function<std::optional<TimePs>(uint32_t replica)>;

struct ServingOptions {
  PoolOptions pool = {};
  // Pool for what follows the prompt.
  std::optional<PoolOptions> decode = std::nullopt;

  // Moves KV caches between the pools; none: it takes no time.
  StartKvTransfer transfer = nullptr;
  int64_t transfer_layers = 1;  // Above 1: layerwise, of so many layers.
  // Whether the pool that decodes hands out the first token too.
  bool first_token_from_decode = false;

  // Loads the weights of replicas before their first step; none: they are
  // there. Requests wait meanwhile.
  StartWeights load_weights = nullptr;

  // Requests in flight in a closed loop: one that ends asks for the next. 0:
  // requests arrive at their own times.
  int64_t in_flight = 0;
  // From the arrival of a request to its place in the queue of a replica. In a
  // closed loop it decides whether requests that end in successive steps are
  // served together.
  TimePs entry_delay = TimePs(0);
  uint64_t seed = 0;  // Of the routers, and of drafts that are accepted.
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_SERVING_OPTIONS_H_
