#include "astra-core/apps/serving/serving_run.h"

#include <cmath>
#include <numeric>

#include "astra-core/base/status_macros.h"
#include "astra-core/serving/step_times.h"
#include "workload/serving/serving_tables.h"
#include "workload/serving/simulation.h"

namespace astra {
namespace {

// Adds up what steps are spent on while they are timed.
class AccountedCost : public StepCost {
 public:
  AccountedCost(StepTimes& steps, ServingRun& run) : steps_(steps), run_(run) {}

  TimePs TimeOf(const StepWork& work) override {
    const StepParts parts = steps_.PartsOf(work);
    const auto add = [&](StepBound bound, double seconds) {
      run_.seconds[static_cast<size_t>(bound)] += seconds;
      if (work.chunks.empty()) return;
      run_.prompt_seconds[static_cast<size_t>(bound)] += seconds;
    };
    add(StepBound::kCompute, parts.gpu.compute);
    add(StepBound::kMemory, parts.gpu.memory);
    add(StepBound::kCollectives, parts.gpu.collectives);
    add(StepBound::kHost, parts.launch + parts.host);
    return TimeOfParts(parts);
  }

 private:
  StepTimes& steps_;
  ServingRun& run_;
};

// Passes results on to the metrics and the tables, each request as late as its
// way to the queue takes.
class Gatherer : public ServingObserver {
 public:
  Gatherer(TimePs delay, const ServingLoad& load, ServingTexts* texts)
      : delay_(delay),
        limits_(load.limits),
        watchers_(load.watchers),
        texts_(texts),
        metrics_(load.limits) {}

  void OnRequest(const RequestResult& result) override {
    RequestResult late = result;
    late.times.first_scheduled += delay_;
    late.times.first_token += delay_;
    late.times.last_token += delay_;
    metrics_.OnRequest(late);
    for (ServingObserver* const each : watchers_) each->OnRequest(late);
    if (texts_ != nullptr && !texts_->requests.empty()) {
      AppendRequestRow(late, limits_, &texts_->requests);
    }
  }
  void OnStep(const StepRecord& step) override {
    metrics_.OnStep(step);
    for (ServingObserver* const each : watchers_) each->OnStep(step);
    if (texts_ == nullptr || texts_->steps.empty()) return;
    if (++rows_ <= kMostStepRows) AppendStepRow(step, &texts_->steps);
  }
  void OnTokens(TimePs gap, int64_t tokens) override {
    metrics_.OnTokens(gap, tokens);
    for (ServingObserver* const each : watchers_) each->OnTokens(gap, tokens);
  }

  const ServingMetrics& metrics() const { return metrics_; }

 private:
  const TimePs delay_;
  const LatencyLimits limits_;
  const std::vector<ServingObserver*>& watchers_;
  ServingTexts* const texts_;
  int64_t rows_ = 0;
  ServingMetrics metrics_;
};

}  // namespace

double ServingRun::busy_seconds() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

absl::StatusOr<ServingRun> RunServing(const ServingJob& job,
                                      ReplicaTimes& times,
                                      const ServingLoad& load,
                                      ServingTexts* texts) {
  constexpr double kPsPerUs = 1e6;
  ServingRun run;
  run.limits = load.limits;
  AccountedCost cost(times.steps(), run);
  ServingOptions options;
  options.pool = {.replicas = job.replicas,
                  .scheduler = job.scheduler,
                  .options = job.options,
                  .router = job.router,
                  .cost = &cost};
  options.in_flight = load.in_flight;
  options.seed = load.seed;
  Gatherer gatherer(
      TimePs(std::llround(kPsPerUs * job.engine.serving.request_us)), load,
      texts);
  ASTRA_RETURN_IF_ERROR(Serve(options, load.source, &gatherer));
  run.summary = gatherer.metrics().Summary();
  if (load.wants_distributions) {
    run.distributions = gatherer.metrics().Distributions();
  }
  return run;
}

}  // namespace astra
