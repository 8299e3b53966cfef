#include "astra-core/apps/serving/serving_run.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "astra-core/base/status_macros.h"
#include "astra-core/serving/step_times.h"
#include "workload/serving/serving_tables.h"
#include "workload/serving/simulation.h"

namespace astra {
namespace {

// Adds up what steps are spent on while they are timed.
class AccountedCost : public StepCost {
 public:
  AccountedCost(StepTimes& steps, BoundSeconds& seconds)
      : steps_(steps), seconds_(seconds) {}

  TimePs TimeOf(const StepWork& work) override {
    const StepParts parts = steps_.PartsOf(work);
    const auto add = [this](StepBound bound, double seconds) {
      seconds_[static_cast<size_t>(bound)] += seconds;
    };
    add(StepBound::kCompute, parts.gpu.compute);
    add(StepBound::kMemory, parts.gpu.memory);
    add(StepBound::kCollectives, parts.gpu.collectives);
    add(StepBound::kHost, parts.launch + parts.host);
    return TimeOfParts(parts);
  }

 private:
  StepTimes& steps_;
  BoundSeconds& seconds_;
};

// Adds up what a pool did; the means are sums until EndUse().
void AddStep(const StepRecord& step, PoolUse& use) {
  const double seconds = 1e-12 * static_cast<double>(step.duration.count());
  const double share = static_cast<double>(step.used_blocks) /
                       static_cast<double>(step.num_blocks);
  ++use.steps;
  use.preemptions += step.preemptions;
  use.step_seconds += seconds;
  use.kv_use_mean += share * seconds;
  use.kv_use_peak = std::max(use.kv_use_peak, share);
  use.batch_mean += static_cast<double>(step.sequences) * seconds;
}

void EndUse(PoolUse& use) {
  if (use.step_seconds == 0) return;
  use.kv_use_mean /= use.step_seconds;
  use.batch_mean /= use.step_seconds;
}

// Passes results on to the metrics and the tables, each request as late as its
// way to the queue takes.
class Gatherer : public ServingObserver {
 public:
  Gatherer(TimePs delay, ServingTexts* texts, std::array<PoolUse, 2>& pools)
      : delay_(delay), texts_(texts), pools_(pools) {}

  void OnRequest(const RequestResult& result) override {
    RequestResult late = result;
    late.times.first_scheduled += delay_;
    late.times.first_token += delay_;
    late.times.last_token += delay_;
    late.times.prompt_end += delay_;
    if (late.times.kv_arrived) *late.times.kv_arrived += delay_;
    metrics_.OnRequest(late);
    if (texts_ != nullptr && !texts_->requests.empty()) {
      AppendRequestRow(late, &texts_->requests);
    }
  }
  void OnStep(const StepRecord& step) override {
    metrics_.OnStep(step);
    AddStep(step, pools_[step.is_decode_pool ? 1 : 0]);
    if (texts_ == nullptr || texts_->steps.empty()) return;
    if (++rows_ <= kMostStepRows) AppendStepRow(step, &texts_->steps);
  }
  void OnTokens(TimePs gap, int64_t tokens) override {
    metrics_.OnTokens(gap, tokens);
  }

  ServingSummary Summary() const { return metrics_.Summary(); }

 private:
  const TimePs delay_;
  ServingTexts* const texts_;
  std::array<PoolUse, 2>& pools_;
  int64_t rows_ = 0;
  ServingMetrics metrics_;
};

PoolOptions PoolOf(const ServingJob& job, StepCost* cost) {
  return {.replicas = job.replicas,
          .scheduler = job.scheduler,
          .options = job.options,
          .router = job.router,
          .cost = cost};
}

}  // namespace

double ServingRun::busy_seconds() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

absl::StatusOr<ServingRun> RunServing(const ServingJob& job,
                                      ReplicaTimes& times,
                                      const ServingLoad& load,
                                      ServingTexts* texts,
                                      const DecodeSide* decode) {
  constexpr double kPsPerUs = 1e6;
  ServingRun run;
  AccountedCost cost(times.steps(), run.pools[0].seconds);
  std::optional<AccountedCost> decode_cost;
  ServingOptions options;
  options.pool = PoolOf(job, &cost);
  options.in_flight = load.in_flight;
  options.seed = load.seed;
  if (decode != nullptr) {
    decode_cost.emplace(decode->times.steps(), run.pools[1].seconds);
    options.decode = PoolOf(decode->job, &*decode_cost);
    options.transfer = decode->transfer;
    options.transfer_layers = decode->transfer_layers;
    options.first_token_from_decode = decode->first_token_from_decode;
  }
  Gatherer gatherer(
      TimePs(std::llround(kPsPerUs * job.engine.serving.request_us)), texts,
      run.pools);
  if (decode != nullptr && decode->drive) {
    ASTRA_ASSIGN_OR_RETURN(const std::unique_ptr<ServingProcess> process,
                           StartServing(options, load.source, &gatherer));
    ASTRA_RETURN_IF_ERROR(decode->drive(*process));
  } else {
    ASTRA_RETURN_IF_ERROR(Serve(options, load.source, &gatherer));
  }
  run.summary = gatherer.Summary();
  for (PoolUse& use : run.pools) {
    EndUse(use);
    for (size_t i = 0; i < run.seconds.size(); ++i) {
      run.seconds[i] += use.seconds[i];
    }
  }
  return run;
}

}  // namespace astra
