// A network that carries what the steps of a pool send between servers.
//
//   pool.network = &network;  // Of PoolOptions.
//
// Model. A step passes a stage by computing first and sending behind it. What
// its messages take on the network that is idle counts as part of StageTime;
// what they take longer delays the step, and so does each step behind it.

#ifndef WORKLOAD_SERVING_STAGE_NETWORK_H_
#define WORKLOAD_SERVING_STAGE_NETWORK_H_

#include <cstdint>

#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "workload/serving/step.h"

namespace astra {

class StageNetwork {
 public:
  virtual ~StageNetwork() = default;

  // Returns what `messages` of a replica take on the idle network, one after
  // the other: at most the sum of their times. `replica` counts whole replicas
  // of the pool.
  virtual TimePs TimeAlone(uint32_t replica,
                           absl::Span<const StageMessages> messages) = 0;

  // Sends `messages`, one after the other. Once the last has arrived, calls
  // ServingProcess::EndPass() with `pass`.
  virtual void Start(uint32_t pass, uint32_t replica,
                     absl::Span<const StageMessages> messages) = 0;
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_STAGE_NETWORK_H_
