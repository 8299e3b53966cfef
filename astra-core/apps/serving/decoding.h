// What decodes requests on other GPUs than those that compute their prompts.

#ifndef ASTRA_CORE_APPS_SERVING_DECODING_H_
#define ASTRA_CORE_APPS_SERVING_DECODING_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/serving/fabric_run.h"
#include "astra-core/apps/serving/serving_pools.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/base/log.h"

namespace astra {

struct SimaiServingOptions;

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

// The options must outlive the result. Errors: those of ServingPools::Create
// and FabricRun::Create.
absl::StatusOr<std::unique_ptr<Decoding>> DecodingOf(
    const SimaiServingOptions& options, Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_DECODING_H_
