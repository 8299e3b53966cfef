// What simai_serving needs to size a deployment, with --plan or --capacity: the
// limits of users, and requests that arrive at any rate.
//
//   --slo-ttft MS, --slo-tpot MS, --slo-e2e MS
//                                  a request keeps the limits if its own time
//                                  to the first token, mean time for each later
//                                  token, and time in all are at most these
//   --slo-share X                  share of the requests that must keep them
//
// Drawn requests arrive at random (Poisson). A trace keeps the order and the
// bursts of its arrivals, whose times are stretched to the rate.

#ifndef ASTRA_CORE_APPS_SERVING_SIZING_OPTIONS_H_
#define ASTRA_CORE_APPS_SERVING_SIZING_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/serving/steady_state.h"
#include "workload/models/model_spec.h"
#include "workload/serving/metrics.h"
#include "workload/serving/request.h"
#include "workload/serving/request_source.h"

namespace astra {

// Requests of drawn loads, unless --requests or kSizingRounds say more.
inline constexpr int64_t kSizingRequests = 1000;
// Requests for each that is in flight by the closed form.
inline constexpr int64_t kSizingRounds = 10;

struct SizingLoad {
  std::optional<int64_t> count;  // Of drawn requests: as --requests says.
  uint64_t seed = 0;
  std::optional<std::string> trace_file;
  std::vector<Request> trace;  // Empty: requests are drawn.
  SteadyRequests lengths;      // Of drawn requests, or means of the trace.

  // Returns how many requests a load has with so many in flight.
  int64_t CountOf(double in_flight) const;
  // Returns `count` requests at `rate` a second; all of a trace.
  absl::StatusOr<std::unique_ptr<RequestSource>> At(double rate,
                                                    int64_t count) const;
};

// Reads the limits. Errors: InvalidArgument where all are missing, or one is
// not above 0.
absl::StatusOr<LatencyLimits> ReadSizingLimits(const CommandLine& flags);

// Reads --slo-share (default 0.99). Errors: InvalidArgument for 0.
absl::StatusOr<double> ReadSizingShare(const CommandLine& flags);

// Reads --trace, or --isl and --osl, and --requests and --seed. Errors:
// InvalidArgument for what is missing or has no effect; those of
// ParseRequestTrace.
absl::StatusOr<SizingLoad> ReadSizingLoad(const CommandLine& flags,
                                          const ModelSpec& model,
                                          Warnings* warnings);

// Warns of sequences of more positions than the model is made for.
//
// Errors: InvalidArgument for more than it has learned.
absl::Status CheckPositions(const ModelSpec& model, int64_t positions,
                            Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SIZING_OPTIONS_H_
