#include "astra-core/serving/serving_plan.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <string_view>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/real.h"

namespace astra {
namespace {

constexpr std::string_view kUnequal =
    "leave GPUs over: no whole number of replicas";
constexpr std::string_view kTooLong = "have no room for one whole request";
constexpr std::string_view kLimits = "miss the limits at every load";

// Returns 1, 2, 3, 4, 6, 8, 12 ... up to `most`, and `most`.
std::vector<int64_t> LevelsUpTo(int64_t most) {
  std::vector<int64_t> levels;
  for (int64_t power = 1; power <= most; power *= 2) {
    levels.push_back(power);
    if (power > 1 && power / 2 * 3 <= most) levels.push_back(power / 2 * 3);
  }
  if (!levels.empty() && levels.back() < most) levels.push_back(most);
  return levels;
}

// The steps of ranks of attention that all have the same work.
class EqualRanks : public StepCost {
 public:
  EqualRanks(StepCost& cost, int64_t ranks)
      : cost_(cost), works_(static_cast<size_t>(ranks)) {}

  TimePs TimeOf(const StepWork& work) override {
    stages_.clear();
    AddStages({&work, 1}, &stages_);
    TimePs sum;
    for (const StageTime& stage : stages_) sum += stage.time;
    return sum;
  }
  void AddStages(absl::Span<const StepWork> ranks,
                 std::vector<StageTime>* stages) override {
    std::fill(works_.begin(), works_.end(), ranks.front());
    cost_.AddStages(works_, stages);
  }

 private:
  StepCost& cost_;
  std::vector<StepWork> works_;    // Of each rank.
  std::vector<StageTime> stages_;  // Kept for its memory.
};

class Planner {
 public:
  explicit Planner(const ServingSpace& space) : space_(space) {
    for (const ServingShape& shape : space.shapes) {
      costs_.emplace_back(*shape.cost, shape.layout.attention_ranks);
    }
  }

  ServingPlans Plan() {
    if (space_.has_shared) {
      for (size_t i = 0; i < space_.shapes.size(); ++i) AddReplicas(i);
    }
    if (space_.has_pools) AddPools();
    std::stable_sort(plans_.best.begin(), plans_.best.end(),
                     [](const ServingPlan& a, const ServingPlan& b) {
                       return a.output_per_gpu > b.output_per_gpu;
                     });
    KeepFront();
    return std::move(plans_);
  }

 private:
  int64_t GpusOf(size_t shape) const {
    return space_.shapes[shape].layout.num_gpus();
  }

  int64_t RanksOf(size_t shape) const {
    return space_.shapes[shape].layout.attention_ranks;
  }

  // Of one rank of attention of one of `replicas`.
  SteadyState StateOf(size_t shape, int64_t replicas) {
    return SteadyState({.cost = RanksOf(shape) == 1 ? space_.shapes[shape].cost
                                                    : &costs_[shape],
                        .options = space_.shapes[shape].options,
                        .scheduler = space_.scheduler,
                        .request_seconds = space_.request_seconds,
                        .steps_under_way = space_.shapes[shape].layout.pipeline,
                        .replicas = replicas * RanksOf(shape)},
                       space_.requests);
  }

  void LeaveOut(std::string_view rule) { ++plans_.left_out[std::string(rule)]; }

  // Ranks the best load of a deployment, if it serves anything.
  void Rank(const std::optional<ServingPlan>& best) {
    if (!best) return LeaveOut(kLimits);
    if (best->load.rate < kLeastCapacity) return LeaveOut(kServeNothing);
    plans_.best.push_back(*best);
  }

  // Scales the load of one rank of one replica to all.
  ServingPlan PlanOf(size_t shape, int64_t replicas,
                     const SteadyLoad& load) const {
    ServingPlan plan;
    plan.shape = shape;
    plan.replicas = replicas;
    plan.load = load;
    const double ranks = Real(replicas * RanksOf(shape));
    plan.load.rate *= ranks;
    plan.load.in_flight *= ranks;
    plan.load.batch *= ranks;
    plan.output_per_gpu = plan.load.rate * Real(space_.requests.output_tokens) /
                          Real(space_.gpus);
    return plan;
  }

  // Notes a load that was evaluated. Returns whether it keeps the limits.
  bool Note(const ServingPlan& plan) {
    ++plans_.loads;
    const auto least = [](double& seconds, double other) {
      if (seconds == 0 || other < seconds) seconds = other;
    };
    least(plans_.least_ttft, plan.load.ttft);
    least(plans_.least_tpot, plan.load.tpot);
    if (plan.load.ttft > space_.most_ttft) return false;
    plans_.front.push_back(plan);
    return plan.load.tpot <= space_.most_tpot;
  }

  // Calls keeps(batch) for all levels, and then for what bisection asks for,
  // until the largest batch that keeps the limits is found.
  template <class Keeps>
  void LargestBatch(int64_t most, const Keeps& keeps) {
    if (space_.exhaustive) {
      for (int64_t batch = 1; batch <= most; ++batch) keeps(batch);
      return;
    }
    int64_t largest = 0;
    int64_t failed = most + 1;
    for (const int64_t level : LevelsUpTo(most)) {
      if (keeps(level)) {
        largest = level;
      } else if (level > largest) {
        failed = std::min(failed, level);
      }
    }
    while (failed - largest > 1) {
      const int64_t middle = largest + (failed - largest) / 2;
      (keeps(middle) ? largest : failed) = middle;
    }
  }

  void AddReplicas(size_t shape) {
    ++plans_.deployments;
    if (space_.gpus % GpusOf(shape) != 0) return LeaveOut(kUnequal);
    const int64_t replicas = space_.gpus / GpusOf(shape);
    const SteadyState state = StateOf(shape, replicas);
    if (state.most_in_flight() == 0) return LeaveOut(kTooLong);
    std::optional<ServingPlan> best;
    const auto keeps = [&](int64_t batch) {
      const std::optional<SteadyLoad> load = state.AtBatch(Real(batch));
      if (!load) return false;
      const ServingPlan plan = PlanOf(shape, replicas, *load);
      if (!Note(plan)) return false;
      if (!best || plan.output_per_gpu > best->output_per_gpu) best = plan;
      return true;
    };
    LargestBatch(state.most_in_flight(), keeps);
    Rank(best);
  }

  double TransferSeconds(size_t prefill, size_t decode) const {
    return space_.transfer_seconds /
           Real(std::min(GpusOf(prefill) / RanksOf(prefill),
                         GpusOf(decode) / RanksOf(decode)));
  }

  void AddPools() {
    for (size_t prefill = 0; prefill < space_.shapes.size(); ++prefill) {
      for (size_t decode = 0; decode < space_.shapes.size(); ++decode) {
        const int64_t rest = space_.gpus - GpusOf(decode);
        for (int64_t replicas = 1; replicas * GpusOf(prefill) <= rest;
             ++replicas) {
          AddPoolPair(prefill, replicas, decode);
        }
      }
    }
  }

  // Returns the plan of two pools at a load of one decoding replica.
  std::optional<ServingPlan> PoolPlan(const ServingPlan& pools,
                                      const SteadyState& prompts,
                                      const SteadyLoad& of_decode) const {
    const double tokens = Real(space_.requests.output_tokens - 1);
    ServingPlan plan = PlanOf(pools.shape, pools.replicas, of_decode);
    plan.prefill_shape = pools.prefill_shape;
    plan.prefill_replicas = pools.prefill_replicas;
    const std::optional<SteadyLoad> of_prompts = prompts.PrefillAtRate(
        plan.load.rate /
        Real(plan.prefill_replicas * RanksOf(*plan.prefill_shape)));
    if (!of_prompts) return std::nullopt;
    plan.load.tpot += TransferSeconds(*plan.prefill_shape, plan.shape) / tokens;
    plan.load.ttft = of_prompts->ttft;
    plan.load.in_flight =
        plan.load.rate * (plan.load.ttft + tokens * plan.load.tpot);
    return plan;
  }

  void AddPoolPair(size_t prefill, int64_t prompts, size_t decode) {
    ++plans_.deployments;
    const int64_t rest = space_.gpus - prompts * GpusOf(prefill);
    if (rest % GpusOf(decode) != 0) return LeaveOut(kUnequal);
    ServingPlan pools;
    pools.shape = decode;
    pools.replicas = rest / GpusOf(decode);
    pools.prefill_shape = prefill;
    pools.prefill_replicas = prompts;
    const SteadyState of_prompts = StateOf(prefill, prompts);
    const SteadyState of_decode = StateOf(decode, pools.replicas);
    const int64_t most = of_decode.most_in_flight();
    if (of_prompts.most_in_flight() == 0 || most == 0) {
      return LeaveOut(kTooLong);
    }
    std::optional<ServingPlan> best;
    LargestBatch(most, [&](int64_t batch) {
      const std::optional<SteadyLoad> load =
          of_decode.DecodeAtBatch(Real(batch), 0);
      if (!load) return false;
      const std::optional<ServingPlan> plan =
          PoolPlan(pools, of_prompts, *load);
      if (!plan || !Note(*plan)) return false;
      if (!best || plan->output_per_gpu > best->output_per_gpu) best = plan;
      return true;
    });
    Rank(best);
  }

  void KeepFront() {
    std::vector<ServingPlan>& front = plans_.front;
    std::stable_sort(front.begin(), front.end(),
                     [](const ServingPlan& a, const ServingPlan& b) {
                       if (a.load.tpot != b.load.tpot) {
                         return a.load.tpot < b.load.tpot;
                       }
                       return a.output_per_gpu > b.output_per_gpu;
                     });
    std::vector<ServingPlan> kept;
    for (const ServingPlan& plan : front) {
      if (kept.empty() || plan.output_per_gpu > kept.back().output_per_gpu) {
        kept.push_back(plan);
      }
    }
    front = std::move(kept);
  }

  const ServingSpace& space_;
  std::deque<EqualRanks> costs_;  // By shape.
  ServingPlans plans_;
};

}  // namespace

ServingPlans PlanServing(const ServingSpace& space) {
  return Planner(space).Plan();
}

}  // namespace astra
