#include "workload/serving/metrics.h"

#include <algorithm>

namespace astra {

std::optional<TimePs> TimePerOutputToken(const RequestResult& result) {
  if (result.output_tokens < 2) return std::nullopt;
  const TimePs decoding = result.times.last_token - result.times.first_token;
  return TimePs(decoding.count() / (result.output_tokens - 1));
}

double ServingSummary::PerSecond(int64_t count) const {
  const TimePs span = last_token - first_arrival;
  if (span <= TimePs(0)) return 0;
  return static_cast<double>(count) * 1e12 / static_cast<double>(span.count());
}

double ServingSummary::PrefixHitRate() const {
  return prompt_tokens == 0 ? 0
                            : static_cast<double>(cached_tokens) /
                                  static_cast<double>(prompt_tokens);
}

double ServingSummary::HostHitRate() const {
  return prompt_tokens == 0 ? 0
                            : static_cast<double>(host_tokens) /
                                  static_cast<double>(prompt_tokens);
}

double ServingSummary::TokensPerDecode() const {
  return decodes == 0
             ? 1
             : 1 + static_cast<double>(accepted) / static_cast<double>(decodes);
}

double ServingSummary::ShareWithinLimits() const {
  return requests == 0 ? 0
                       : static_cast<double>(requests_within_limits) /
                             static_cast<double>(requests);
}

bool KeepsLimits(const RequestResult& result, const LatencyLimits& limits) {
  const auto keeps = [](std::optional<TimePs> limit,
                        std::optional<TimePs> time) {
    return !limit.has_value() || !time.has_value() || *time <= *limit;
  };
  return keeps(limits.to_first_token, result.times.to_first_token()) &&
         keeps(limits.per_token, TimePerOutputToken(result)) &&
         keeps(limits.end_to_end, result.times.end_to_end());
}

void ServingMetrics::OnRequest(const RequestResult& result) {
  const RequestTimes& times = result.times;
  sums_.first_arrival = sums_.requests == 0
                            ? times.arrival
                            : std::min(sums_.first_arrival, times.arrival);
  sums_.last_token = std::max(sums_.last_token, times.last_token);
  ++sums_.requests;
  if (KeepsLimits(result, limits_)) {
    ++sums_.requests_within_limits;
    sums_.output_tokens_within_limits += result.output_tokens;
  }
  sums_.prompt_tokens += result.prompt_tokens;
  sums_.output_tokens += result.output_tokens;
  sums_.cached_tokens += times.cached_tokens;
  sums_.host_tokens += times.host_tokens;
  queueing_.push_back(times.queueing());
  ttft_.push_back(times.to_first_token());
  e2e_.push_back(times.end_to_end());
  normalized_e2e_.push_back(
      TimePs(times.end_to_end().count() / result.output_tokens));
  if (times.kv_transfer()) kv_transfer_.push_back(*times.kv_transfer());
  const std::optional<TimePs> tpot = TimePerOutputToken(result);
  if (tpot.has_value()) tpot_.push_back(*tpot);
}

void ServingMetrics::OnStep(const StepRecord& step) {
  ++sums_.steps;
  sums_.preemptions += step.preemptions;
  sums_.decodes += step.decodes;
  sums_.accepted += step.accepted;
  const double duration = static_cast<double>(step.duration.count());
  const double use = static_cast<double>(step.used_blocks) /
                     static_cast<double>(step.num_blocks);
  step_time_ += duration;
  kv_use_time_ += use * duration;
  batch_time_ += static_cast<double>(step.sequences) * duration;
  sums_.kv_use_peak = std::max(sums_.kv_use_peak, use);
}

void ServingMetrics::OnTokens(TimePs gap, int64_t tokens) {
  itl_.Add(gap, tokens);
}

ServingSummary ServingMetrics::Summary() const {
  ServingSummary summary = sums_;
  summary.queueing = FiguresOf(queueing_);
  summary.ttft = FiguresOf(ttft_);
  summary.tpot = FiguresOf(tpot_);
  summary.normalized_e2e = FiguresOf(normalized_e2e_);
  summary.itl = itl_.Figures();
  summary.e2e = FiguresOf(e2e_);
  summary.kv_transfer = FiguresOf(kv_transfer_);
  summary.kv_transfers = static_cast<int64_t>(kv_transfer_.size());
  if (step_time_ > 0) {
    summary.kv_use_mean = kv_use_time_ / step_time_;
    summary.batch_mean = batch_time_ / step_time_;
  }
  return summary;
}

ServingDistributions ServingMetrics::Distributions() const {
  return {.ttft = PercentilesOf(ttft_),
          .tpot = PercentilesOf(tpot_),
          .itl = itl_.Percentiles(),
          .e2e = PercentilesOf(e2e_)};
}

}  // namespace astra
