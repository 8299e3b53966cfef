// Replays requests on a deployment of one or two pools, to see which share of
// them keeps limits.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_REPLAY_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_REPLAY_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/serving/sizing_options.h"
#include "astra-core/base/units.h"
#include "astra-core/serving/capacity_search.h"
#include "workload/serving/kv_transfer.h"
#include "workload/serving/metrics.h"
#include "workload/serving/pool.h"

namespace astra {

struct ReplayedDeployment {
  PoolOptions pool;
  std::optional<PoolOptions> decode = std::nullopt;
  // As in ServingOptions.
  StartKvTransfer transfer = nullptr;
  int64_t transfer_layers = 1;
  bool first_token_from_decode = false;
  double request_seconds = 0;  // From the arrival to the place in the queue.
};

// Tells how requests that came at a rate were served.
struct ReplayedLoad {
  double rate = 0;  // Requests per second that arrive.
  int64_t requests = 0;
  double share = 0;  // Of requests that keep the limits.
  double ttft = 0;   // Seconds, in the mean.
  double ttft_p99 = 0;
  double tpot = 0;
  double tpot_p99 = 0;
  double output_rate = 0;  // Tokens per second.
  bool is_steady = false;  // See IsSteady.

  // Returns the share for the search: 0 where those behind the run would wait
  // ever longer.
  double share_if_steady() const { return is_steady ? share : 0; }
};

// When a request came, and when it had its last token.
struct ServedSpan {
  TimePs arrival;
  TimePs end;
};

// Returns whether requests are served as fast as they come: in the second half
// of the time in which they come, at least 85 % as many end as come, or at
// least half, if chance explains the rest (three times the root of their
// number). Where fewer end, they pile up, or the run is too short to tell.
bool IsSteady(absl::Span<const ServedSpan> requests);

// Errors: those of Serve().
absl::StatusOr<ReplayedLoad> ReplayAt(const ReplayedDeployment& deployment,
                                      const SizingLoad& load,
                                      const LatencyLimits& limits, double rate,
                                      int64_t count);

// The capacity of a deployment, and what users see there.
struct ReplayedCapacity {
  Capacity capacity;
  std::optional<ReplayedLoad> at_largest;  // None: no rate passed.
};

// Searches the largest rate from `guess` on. Errors: those of Serve().
absl::StatusOr<ReplayedCapacity> CapacityOf(
    const ReplayedDeployment& deployment, const SizingLoad& load,
    const LatencyLimits& limits, double guess, int64_t count,
    const CapacityOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_REPLAY_H_
