// Serves a list of loads with one deployment, such as the points of a curve of
// throughput over interactivity.
//
//   ASTRA_ASSIGN_OR_RETURN(
//       const std::vector<ServingRun> runs,
//       ServePoints(job, points, source_of, {.threads = 4}));
//
// Points are independent of one another, so that results are the same bytes
// with any number of threads.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_POINTS_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_POINTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/apps/serving/serving_setup.h"
#include "workload/serving/metrics.h"
#include "workload/serving/request_source.h"

namespace astra {

// Requests for each that is in flight, as in InferenceX (benchmark_serving with
// --num-prompts of 10 x concurrency).
inline constexpr int64_t kRounds = 10;

// How requests reach a deployment. Both are 0 where they arrive at the times of
// a trace.
struct LoadPoint {
  int64_t in_flight = 0;  // Requests of a closed loop; 0: an open one.
  double rate = 0;        // Requests per second of an open loop.

  friend bool operator==(const LoadPoint&, const LoadPoint&) = default;
};

// Returns the requests of a point. Several threads call it at once.
using SourceOfPoint =
    std::function<absl::StatusOr<std::unique_ptr<RequestSource>>(
        const LoadPoint& point)>;

// Is called with each point and its run, in the order of the points, as soon as
// it and all before it have been served; never twice at once.
using PointReport =
    std::function<void(const LoadPoint& point, const ServingRun& run)>;

struct ServePointsOptions {
  uint64_t seed = 0;  // Of routers.
  LatencyLimits limits = {};
  int64_t threads = 1;
  // Returns what the deployment has beside its replicas, anew for each point;
  // none: nothing. Several threads call it at once.
  std::function<absl::StatusOr<std::unique_ptr<ServingSetup>>()> setup_of =
      nullptr;
  PointReport report = nullptr;  // None: nobody is told.
};

// Returns the runs of `points`, in their order.
//
// Errors: those of ReplicaTimes::Create, of the functions and of RunServing, of
// the first point that has one.
absl::StatusOr<std::vector<ServingRun>> ServePoints(
    const ServingJob& job, absl::Span<const LoadPoint> points,
    const SourceOfPoint& source_of, const ServePointsOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_POINTS_H_
