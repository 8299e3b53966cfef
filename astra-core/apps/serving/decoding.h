// Sets up the pool that decodes requests on other GPUs than those that compute
// their prompts, and the network between the two.

#ifndef ASTRA_CORE_APPS_SERVING_DECODING_H_
#define ASTRA_CORE_APPS_SERVING_DECODING_H_

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/serving/fabric_run.h"
#include "astra-core/apps/serving/serving_fabric_options.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/apps/serving/serving_pool_options.h"
#include "astra-core/apps/serving/serving_pools.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/base/log.h"

namespace astra {

// All are null where one pool does both.
struct Decoding {
  std::unique_ptr<ServingPools> pools;
  std::unique_ptr<FabricRun> fabric;  // Null where no network is simulated.
  std::unique_ptr<DecodeSide> side;   // For RunServing(), once.

  // Returns what went wrong with transfers during the run.
  absl::Status status() const {
    return pools == nullptr ? absl::OkStatus() : pools->status();
  }
};

// Returns what decodes for `prefill`; `pool` is empty where one pool does both.
// All but the warnings must outlive the result. Errors: those of
// ServingPools::Create and FabricRun::Create.
absl::StatusOr<std::unique_ptr<Decoding>> DecodingOf(
    const ServingJob& prefill, const std::optional<DecodePool>& pool,
    const FabricOptions& fabric, Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_DECODING_H_
