#include "astra-core/apps/serving/serving_run.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/serving/step_times.h"
#include "workload/serving/simulation.h"

namespace astra {
namespace {

// Adds up what steps are spent on while they are timed.
class AccountedCost : public StepCost {
 public:
  // Adds to `seconds`, and to `prompt_seconds` for steps with parts of prompts.
  AccountedCost(ReplicaTimes& times, BoundSeconds& seconds,
                BoundSeconds& prompt_seconds)
      : times_(times), seconds_(seconds), prompt_seconds_(prompt_seconds) {}

  TimePs TimeOf(const StepWork& work) override {
    std::vector<StageTime> stages;
    AddStages({&work, 1}, &stages);
    return std::accumulate(
        stages.begin(), stages.end(), TimePs(0),
        [](TimePs sum, const StageTime& stage) { return sum + stage.time; });
  }

  void AddStages(absl::Span<const StepWork> ranks,
                 std::vector<StageTime>* stages) override {
    has_prompts_ =
        std::any_of(ranks.begin(), ranks.end(),
                    [](const auto& work) { return !work.chunks.empty(); });
    parts_.clear();
    times_.steps().AddParts(ranks, &parts_);
    for (const StepParts& parts : parts_) {
      Add(StepBound::kCompute, parts.gpu.compute);
      Add(StepBound::kMemory, parts.gpu.memory);
      Add(StepBound::kCollectives, parts.gpu.collectives);
      Add(StepBound::kHost, parts.launch + parts.host);
    }
    times_.steps().AddTimes(parts_, stages);
  }

 private:
  void Add(StepBound bound, double seconds) {
    seconds_[static_cast<size_t>(bound)] += seconds;
    if (has_prompts_) prompt_seconds_[static_cast<size_t>(bound)] += seconds;
  }

  ReplicaTimes& times_;
  BoundSeconds& seconds_;
  BoundSeconds& prompt_seconds_;
  bool has_prompts_ = false;      // Of the step that is being timed.
  std::vector<StepParts> parts_;  // Kept for its memory.
};

// Adds up what a pool did; the means are sums until EndUse().
void AddStep(const StepRecord& step, PoolUse& use) {
  const double seconds = ToSeconds(step.duration);
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

// Passes results on to the metrics and those who watch.
class Gatherer : public ServingObserver {
 public:
  Gatherer(const ServingLoad& load, std::array<PoolUse, 2>& pools)
      : watchers_(load.watchers), pools_(pools), metrics_(load.limits) {}

  void OnRequest(const RequestResult& result) override {
    metrics_.OnRequest(result);
    for (ServingObserver* const each : watchers_) each->OnRequest(result);
  }
  void OnStep(const StepRecord& step) override {
    metrics_.OnStep(step);
    for (ServingObserver* const each : watchers_) each->OnStep(step);
    AddStep(step, pools_[step.is_decode_pool ? 1 : 0]);
  }
  void OnTokens(TimePs gap, int64_t tokens) override {
    metrics_.OnTokens(gap, tokens);
    for (ServingObserver* const each : watchers_) each->OnTokens(gap, tokens);
  }

  const ServingMetrics& metrics() const { return metrics_; }

 private:
  const std::vector<ServingObserver*>& watchers_;
  std::array<PoolUse, 2>& pools_;
  ServingMetrics metrics_;
};

// Sums up the pools, whose steps `network` has delayed, if there is one.
void SumUp(const ServingNetwork* network, ServingRun& run) {
  for (size_t pool = 0; pool < run.pools.size(); ++pool) {
    PoolUse& use = run.pools[pool];
    EndUse(use);
    if (network != nullptr) {
      use.seconds[static_cast<size_t>(StepBound::kCollectives)] +=
          network->LostSeconds(pool);
    }
    for (size_t i = 0; i < run.seconds.size(); ++i) {
      run.seconds[i] += use.seconds[i];
    }
  }
}

}  // namespace

PoolOptions PoolOf(const ServingJob& job, StepCost* cost) {
  return {.replicas = job.replicas,
          .ranks = job.layout.attention_ranks,
          .steps_under_way = job.layout.pipeline,
          .scheduler = job.scheduler,
          .options = job.options,
          .router = job.router,
          .cost = cost,
          .host_block_time = job.host_block_time};
}

double ServingRun::busy_seconds() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

struct OngoingServing::State {
  State(ReplicaTimes& times, const ServingLoad& of_run,
        const ServingParts& of_deployment)
      : load(of_run),
        parts(of_deployment),
        cost(times, run.pools[0].seconds, run.prompt_seconds),
        gatherer(load, run.pools) {
    run.limits = load.limits;
    if (parts.decode == nullptr) return;
    decode_cost.emplace(parts.decode->times, run.pools[1].seconds,
                        run.prompt_seconds);
  }

  const ServingLoad load;
  const ServingParts parts;
  ServingRun run;
  AccountedCost cost;
  std::optional<AccountedCost> decode_cost;
  Gatherer gatherer;
  ServingOptions options;
  std::unique_ptr<ServingProcess> process;
};

OngoingServing::OngoingServing(std::unique_ptr<State> state)
    : state_(std::move(state)) {}

OngoingServing::~OngoingServing() = default;

absl::StatusOr<std::unique_ptr<OngoingServing>> OngoingServing::Start(
    const ServingJob& job, ReplicaTimes& times, const ServingLoad& load,
    const ServingParts& parts) {
  auto state = std::make_unique<State>(times, load, parts);
  const DecodeSide* const decode = parts.decode;
  ServingOptions& options = state->options;
  options.pool = PoolOf(job, &state->cost);
  options.in_flight = load.in_flight;
  options.seed = load.seed;
  if (decode != nullptr) {
    options.decode = PoolOf(decode->job, &*state->decode_cost);
    options.transfer = decode->transfer;
    options.transfer_layers = decode->transfer_layers;
    options.first_token_from_decode = decode->first_token_from_decode;
  }
  options.load_weights = parts.load_weights;
  if (parts.network != nullptr) {
    options.pool.network = parts.network->StepsOf(0, times);
    if (decode != nullptr) {
      options.decode->network = parts.network->StepsOf(1, decode->times);
    }
  }
  options.entry_delay =
      TimePs(std::llround(kPsPerUs * job.engine.serving.request_us));
  ASTRA_ASSIGN_OR_RETURN(state->process,
                         StartServing(options, load.source, &state->gatherer));
  return std::unique_ptr<OngoingServing>(new OngoingServing(std::move(state)));
}

absl::StatusOr<bool> OngoingServing::GoOn() {
  ServingNetwork* const network = state_->parts.network;
  if (network != nullptr) return network->GoOn(*state_->process);
  ASTRA_RETURN_IF_ERROR(ServeToTheEnd(*state_->process));
  return true;
}

ServingRun OngoingServing::TakeRun() {
  ServingRun& run = state_->run;
  run.summary = state_->gatherer.metrics().Summary();
  if (state_->load.wants_distributions) {
    run.distributions = state_->gatherer.metrics().Distributions();
  }
  SumUp(state_->parts.network, run);
  return std::move(run);
}

absl::StatusOr<ServingRun> RunServing(const ServingJob& job,
                                      ReplicaTimes& times,
                                      const ServingLoad& load,
                                      const ServingParts& parts) {
  ASTRA_ASSIGN_OR_RETURN(const std::unique_ptr<OngoingServing> serving,
                         OngoingServing::Start(job, times, load, parts));
  ASTRA_ASSIGN_OR_RETURN(const bool has_ended, serving->GoOn());
  ASTRA_CHECK(has_ended, "a run without other jobs waits for them");
  return serving->TakeRun();
}

}  // namespace astra
