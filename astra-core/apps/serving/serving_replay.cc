#include "astra-core/apps/serving/serving_replay.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "astra-core/base/status_macros.h"
#include "workload/serving/simulation.h"

namespace astra {
namespace {

// Keeps the metrics, and when each request came and ended.
class ReplayMetrics : public ServingMetrics {
 public:
  using ServingMetrics::ServingMetrics;

  void OnRequest(const RequestResult& result) override {
    ServingMetrics::OnRequest(result);
    spans_.push_back({result.times.arrival, result.times.last_token});
  }
  const std::vector<ServedSpan>& spans() const { return spans_; }

 private:
  std::vector<ServedSpan> spans_;
};

}  // namespace

bool IsSteady(absl::Span<const ServedSpan> requests) {
  constexpr double kLeastShare = 0.85;
  constexpr double kDeviations = 3;
  const auto [first, last] = std::minmax_element(
      requests.begin(), requests.end(),
      [](const auto& a, const auto& b) { return a.arrival < b.arrival; });
  if (first == requests.end()) return false;
  const TimePs until = last->arrival;
  const TimePs from(std::midpoint(first->arrival.count(), until.count()));
  const auto is_within = [=](TimePs time) {
    return time > from && time <= until;
  };
  double come = 0;
  double ended = 0;
  for (const ServedSpan& request : requests) {
    if (is_within(request.arrival)) come += 1;
    if (is_within(request.end)) ended += 1;
  }
  const double chance = std::min(kDeviations * std::sqrt(come), come / 2);
  return come > 0 && come - ended <= std::max((1 - kLeastShare) * come, chance);
}

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
  ReplayMetrics metrics(limits);
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
  replayed.output_rate = summary.PerSecond(summary.output_tokens);
  replayed.is_steady = IsSteady(metrics.spans());
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
