#include "astra-core/apps/serving/serving_replay.h"

#include <cmath>
#include <memory>

#include "astra-core/base/status_macros.h"
#include "workload/serving/simulation.h"

namespace astra {

absl::StatusOr<ReplayedLoad> ReplayAt(const ReplayedDeployment& deployment,
                                      const SizingLoad& load,
                                      const LatencyLimits& limits, double rate,
                                      int64_t count) {
  ASTRA_ASSIGN_OR_RETURN(const std::unique_ptr<RequestSource> source,
                         load.At(rate, count));
  ServingOptions options;
  options.pool = deployment.pool;
  options.decode = deployment.decode;
  options.transfer = deployment.transfer;
  options.transfer_layers = deployment.transfer_layers;
  options.first_token_from_decode = deployment.first_token_from_decode;
  options.entry_delay =
      TimePs(std::llround(kPsPerSecond * deployment.request_seconds));
  ServingMetrics metrics(limits);
  ASTRA_RETURN_IF_ERROR(Serve(options, source.get(), &metrics));
  const ServingSummary summary = metrics.Summary();
  ReplayedLoad replayed;
  replayed.rate = rate;
  replayed.requests = summary.requests;
  replayed.share = static_cast<double>(summary.requests_within_limits) /
                   static_cast<double>(summary.requests);
  replayed.ttft = summary.ttft.mean / kPsPerSecond;
  replayed.ttft_p99 = summary.ttft.p99 / kPsPerSecond;
  replayed.tpot = summary.tpot.mean / kPsPerSecond;
  replayed.tpot_p99 = summary.tpot.p99 / kPsPerSecond;
  replayed.served = summary.PerSecond(summary.requests);
  replayed.output_rate = summary.PerSecond(summary.output_tokens);
  return replayed;
}

absl::StatusOr<ReplayedCapacity> CapacityOf(
    const ReplayedDeployment& deployment, const SizingLoad& load,
    const LatencyLimits& limits, double guess, int64_t count,
    const CapacityOptions& options) {
  ReplayedCapacity result;
  ASTRA_ASSIGN_OR_RETURN(
      result.capacity,
      LargestRate(guess, options, [&](double rate) -> absl::StatusOr<double> {
        ASTRA_ASSIGN_OR_RETURN(const ReplayedLoad replayed,
                               ReplayAt(deployment, load, limits, rate, count));
        const bool is_best =
            !result.at_largest || rate > result.at_largest->rate;
        if (replayed.share_if_steady() >= options.share && is_best) {
          result.at_largest = replayed;
        }
        return replayed.share_if_steady();
      }));
  return result;
}

}  // namespace astra
