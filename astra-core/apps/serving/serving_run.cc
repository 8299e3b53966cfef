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
    const auto add = [this](StepBound bound, double seconds) {
      run_.seconds[static_cast<size_t>(bound)] += seconds;
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

// Passes results on to the metrics and the tables.
class Gatherer : public ServingObserver {
 public:
  explicit Gatherer(ServingTexts* texts) : texts_(texts) {}

  void OnRequest(const RequestResult& result) override {
    metrics_.OnRequest(result);
    if (texts_ != nullptr && !texts_->requests.empty()) {
      AppendRequestRow(result, &texts_->requests);
    }
  }
  void OnStep(const StepRecord& step) override {
    metrics_.OnStep(step);
    if (texts_ == nullptr || texts_->steps.empty()) return;
    if (++rows_ <= kMostStepRows) AppendStepRow(step, &texts_->steps);
  }
  void OnTokens(TimePs gap, int64_t tokens) override {
    metrics_.OnTokens(gap, tokens);
  }

  ServingSummary Summary() const { return metrics_.Summary(); }

 private:
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
  AccountedCost cost(times.steps(), run);
  ServingOptions options;
  options.pool = {.replicas = job.replicas,
                  .scheduler = job.scheduler,
                  .options = job.options,
                  .router = job.router,
                  .cost = &cost};
  options.in_flight = load.in_flight;
  options.seed = load.seed;
  options.entry_delay =
      TimePs(std::llround(kPsPerUs * job.engine.serving.request_us));
  Gatherer gatherer(texts);
  ASTRA_RETURN_IF_ERROR(Serve(options, load.source, &gatherer));
  run.summary = gatherer.Summary();
  return run;
}

}  // namespace astra
