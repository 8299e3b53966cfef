// Serves requests with a deployment, and gathers what became of them.
//
// A request is in the queue of its replica `request_us` of the engine after its
// arrival: it is parsed and tokenized, and sent to the process that schedules.
// All times of a request behind its arrival contain this.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_RUN_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_RUN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/serving/serving_job.h"
#include "workload/serving/metrics.h"
#include "workload/serving/request_source.h"
#include "workload/serving/simulation.h"

namespace astra {

// Resources that steps spend their time on. The host counts only where the GPU
// waits for it.
enum class StepBound : uint8_t { kCompute, kMemory, kCollectives, kHost };
inline constexpr std::array<std::string_view, 4> kStepBounds = {
    "compute", "memory", "collectives", "host"};

// Most rows of steps.csv. A run of more steps has only the first ones there.
inline constexpr int64_t kMostStepRows = 1'000'000;

struct ServingLoad {
  RequestSource* source = nullptr;
  int64_t in_flight = 0;  // Of a closed loop; 0: they arrive at their times.
  uint64_t seed = 0;      // Of routers.
  LatencyLimits limits;   // For the goodput.
  std::vector<ServingObserver*> watchers;  // Get all results too.
  bool wants_distributions = false;        // Or only their usual figures.
};

struct ServingTexts {
  std::string requests;  // requests.csv
  std::string steps;     // steps.csv
};

struct ServingRun {
  ServingSummary summary;
  LatencyLimits limits;  // That the summary counts requests within.
  ServingDistributions distributions;  // Empty unless the load wants them.
  std::array<double, std::size(kStepBounds)> seconds{};  // Of all replicas.
  // Part of `seconds` in steps that compute parts of prompts.
  std::array<double, std::size(kStepBounds)> prompt_seconds{};

  double busy_seconds() const;
};

// Serves `load`. Adds rows to the tables of `texts` that have a header there.
// Null: writes none. Errors: those of Serve().
absl::StatusOr<ServingRun> RunServing(const ServingJob& job,
                                      ReplicaTimes& times,
                                      const ServingLoad& load,
                                      ServingTexts* texts);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_RUN_H_
