// simai_serving --capacity: the largest rate at which a deployment keeps the
// limits, or with --rate the fewest replicas that keep them.

#ifndef ASTRA_CORE_APPS_SERVING_CAPACITY_RUN_H_
#define ASTRA_CORE_APPS_SERVING_CAPACITY_RUN_H_

#include "absl/status/status.h"
#include "astra-core/apps/serving/simai_serving_options.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// Most replicas that are tried for a rate.
inline constexpr int64_t kMostCapacityReplicas = 4096;

// Searches, prints each run, and writes capacity.csv and capacity.json.
//
// Errors: those of ReadSizingLimits and ReadSizingLoad, of the deployment, and
// of Serve().
absl::Status RunCapacity(const CommandLine& flags, SimaiServingOptions options,
                         const Log& log);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_CAPACITY_RUN_H_
