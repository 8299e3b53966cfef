#include "astra-core/apps/serving/serving_run.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/serving/step_times.h"
#include "workload/serving/serving_tables.h"
#include "workload/serving/simulation.h"

namespace astra {
namespace {

// Adds up what steps are spent on while they are timed.
class AccountedCost : public StepCost {
 public:
  AccountedCost(ReplicaTimes& times, ServingRun& run)
      : times_(times), run_(run) {}

  TimePs TimeOf(const StepWork& work) override {
    std::vector<TimePs> stages;
    AddStages({&work, 1}, &stages);
    return std::accumulate(stages.begin(), stages.end(), TimePs(0));
  }

  void AddStages(absl::Span<const StepWork> ranks,
                 std::vector<TimePs>* stages) override {
    has_prompts_ =
        std::any_of(ranks.begin(), ranks.end(),
                    [](const auto& work) { return !work.chunks.empty(); });
    parts_.clear();
    times_.AddParts(ranks, &parts_);
    for (const StepParts& parts : parts_) {
      Add(StepBound::kCompute, parts.gpu.compute);
      Add(StepBound::kMemory, parts.gpu.memory);
      Add(StepBound::kCollectives, parts.gpu.collectives);
      Add(StepBound::kHost, parts.launch + parts.host);
      stages->push_back(TimeOfParts(parts));
    }
  }

 private:
  void Add(StepBound bound, double seconds) {
    run_.seconds[static_cast<size_t>(bound)] += seconds;
    if (has_prompts_)
      run_.prompt_seconds[static_cast<size_t>(bound)] += seconds;
  }

  ReplicaTimes& times_;
  ServingRun& run_;
  bool has_prompts_ = false;      // Of the step that is being timed.
  std::vector<StepParts> parts_;  // Kept for its memory.
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
  AccountedCost cost(times, run);
  ServingOptions options;
  options.pool = {.replicas = job.replicas,
                  .ranks = job.layout.attention_ranks,
                  .steps_under_way = job.layout.pipeline,
                  .scheduler = job.scheduler,
                  .options = job.options,
                  .router = job.router,
                  .cost = &cost,
                  .host_block_time = job.host_block_time};
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
