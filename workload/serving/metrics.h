// The metrics of a serving run: latencies of requests and tokens, rates, and
// what the KV cache did.
//
//   ServingMetrics metrics({.to_first_token = Microseconds(500'000)});
//   ASTRA_RETURN_IF_ERROR(Serve(options, &source, &metrics));
//   std::string csv = MetricsCsv(metrics.Summary());  // serving_tables.h
//
// Model, for a request of n output tokens:
//
// clang-format off
//   queueing          first step that computes for it - arrival
//   ttft              first token - arrival
//   tpot              (e2e - ttft) / (n - 1); none if n is 1
//   normalized_e2e    e2e / n; many benchmarks call this one TPOT
//   itl               each gap between two tokens that follow one another
//   e2e               last token - arrival
//   kv_transfer       KV cache in the decode pool - end of the prompt
// clang-format on
//
// vLLM's, SGLang's and AIConfigurator's TPOT is the first of the two. Rates are
// over the time from the first arrival to the last token.

#ifndef WORKLOAD_SERVING_METRICS_H_
#define WORKLOAD_SERVING_METRICS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "astra-core/base/units.h"
#include "workload/serving/request.h"
#include "workload/serving/simulation.h"
#include "workload/serving/time_histogram.h"

namespace astra {

// Limits that a request must keep to count for the goodput. The limit of tpot
// does not apply to a request of one token.
struct LatencyLimits {
  std::optional<TimePs> to_first_token;
  std::optional<TimePs> per_token;  // tpot.
  std::optional<TimePs> end_to_end;

  bool any() const { return to_first_token || per_token || end_to_end; }
};

// The percentiles 0, 1, ... 100 of a quantity in picoseconds; empty if it has
// no values.
using TimePercentiles = std::vector<double>;

struct ServingDistributions {
  TimePercentiles ttft;
  TimePercentiles tpot;
  TimePercentiles itl;
  TimePercentiles e2e;
};

struct ServingSummary {
  int64_t requests = 0;
  int64_t requests_within_limits = 0;
  int64_t output_tokens_within_limits = 0;  // Of these requests.
  int64_t prompt_tokens = 0;
  int64_t output_tokens = 0;
  int64_t cached_tokens = 0;  // Of prompts, found at the first admission,
  int64_t host_tokens = 0;    // and loaded from the host's memory.
  int64_t preemptions = 0;
  int64_t steps = 0;
  int64_t decodes = 0;   // Steps of sequences that decode.
  int64_t accepted = 0;  // Draft tokens that these accepted.
  TimePs first_arrival;
  TimePs last_token;

  TimeFigures queueing;
  TimeFigures ttft;
  TimeFigures tpot;
  TimeFigures normalized_e2e;
  TimeFigures itl;
  TimeFigures e2e;
  TimeFigures kv_transfer;   // Of the requests whose KV cache moved.
  int64_t kv_transfers = 0;  // Number of these requests.

  // Share of the blocks that sequences hold, weighted by the times of the
  // steps, and the largest of any step.
  double kv_use_mean = 0;
  double kv_use_peak = 0;
  double batch_mean = 0;  // Sequences in a step, weighted by the times.

  double PerSecond(int64_t count) const;
  double PrefixHitRate() const;  // Of prompt tokens; both memories together.
  double HostHitRate() const;    // The host's alone.
  // Output tokens of a sequence in a step that decodes it; 1 without drafts.
  double TokensPerDecode() const;
  double ShareWithinLimits() const;  // Of requests.
};

// Keeps six times for each request, and a histogram of the gaps.
class ServingMetrics : public ServingObserver {
 public:
  explicit ServingMetrics(const LatencyLimits& limits = {}) : limits_(limits) {}

  void OnRequest(const RequestResult& result) override;
  void OnStep(const StepRecord& step) override;
  void OnTokens(TimePs gap, int64_t tokens) override;

  ServingSummary Summary() const;
  ServingDistributions Distributions() const;

 private:
  LatencyLimits limits_;
  ServingSummary sums_;
  std::vector<TimePs> queueing_;
  std::vector<TimePs> ttft_;
  std::vector<TimePs> tpot_;
  std::vector<TimePs> normalized_e2e_;
  std::vector<TimePs> e2e_;
  std::vector<TimePs> kv_transfer_;
  TimeHistogram itl_;
  double step_time_ = 0;  // Sums in picoseconds.
  double kv_use_time_ = 0;
  double batch_time_ = 0;
};

// Returns whether a request keeps all limits.
bool KeepsLimits(const RequestResult& result, const LatencyLimits& limits);

// Returns (e2e - ttft) / (n - 1), rounded down; nothing for one token.
std::optional<TimePs> TimePerOutputToken(const RequestResult& result);

}  // namespace astra

#endif  // WORKLOAD_SERVING_METRICS_H_
