#include "astra-core/apps/serving/serving_run.h"

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
  }

  ReplicaTimes& times_;
  ServingRun& run_;
  std::vector<StepParts> parts_;  // Kept for its memory.
};

// Passes results on to the metrics and the tables, each request as late as its
// way to the queue takes.
class Gatherer : public ServingObserver {
 public:
  Gatherer(TimePs delay, ServingTexts* texts) : delay_(delay), texts_(texts) {}

  void OnRequest(const RequestResult& result) override {
    RequestResult late = result;
    late.times.first_scheduled += delay_;
    late.times.first_token += delay_;
    late.times.last_token += delay_;
    metrics_.OnRequest(late);
    if (texts_ != nullptr && !texts_->requests.empty()) {
      AppendRequestRow(late, &texts_->requests);
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
  const TimePs delay_;
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
      TimePs(std::llround(kPsPerUs * job.engine.serving.request_us)), texts);
  ASTRA_RETURN_IF_ERROR(Serve(options, load.source, &gatherer));
  run.summary = gatherer.Summary();
  return run;
}

}  // namespace astra
