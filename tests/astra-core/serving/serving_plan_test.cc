#include "astra-core/serving/serving_plan.h"

#include <cmath>
#include <deque>

#include "gtest/gtest.h"

namespace astra {
namespace {

constexpr double kPsPerMs = 1e9;

// A share of 4 ms, 0.05 ms for each position of prompts and 0.1 ms for each
// sequence, and 2 ms that more GPUs do not shorten.
class SharedCost : public StepCost {
 public:
  explicit SharedCost(double gpus) : gpus_(gpus) {}
  TimePs TimeOf(const StepWork& work) override {
    int64_t prompts = 0;
    for (const PromptChunk& chunk : work.chunks) prompts += chunk.tokens;
    const double ms = 2 + (4 + 0.05 * static_cast<double>(prompts) +
                           0.1 * static_cast<double>(work.decodes)) /
                              gpus_;
    return TimePs(std::llround(ms * kPsPerMs));
  }

 private:
  double gpus_;
};

// Shapes of 1, 2 and 4 GPUs, and one of 3.
struct Space {
  Space() {
    for (const int64_t tensor : {1, 2, 3, 4}) {
      costs.emplace_back(static_cast<double>(tensor));
      ServingShape shape;
      shape.layout.tensor = tensor;
      shape.options.num_blocks = 1000 * tensor;
      shape.options.max_sequences = 64;
      shape.options.max_batched_tokens = 2000;
      shape.options.chunk_tokens = 2000;
      shape.cost = &costs.back();
      space.shapes.push_back(shape);
    }
    space.requests = {.prompt_tokens = 500, .output_tokens = 50};
    space.scheduler = "vllm";
    space.gpus = 8;
    space.has_pools = true;
    space.transfer_seconds = 0.002;
    space.most_ttft = 0.2;
    space.most_tpot = 0.012;
  }

  std::deque<SharedCost> costs;
  ServingSpace space;
};

int64_t LeftOut(const ServingPlans& plans) {
  int64_t sum = 0;
  for (const auto& [rule, count] : plans.left_out) sum += count;
  return sum;
}

TEST(ServingPlanTest, EveryDeploymentIsRankedOrCountedByItsRule) {
  Space given;
  const ServingPlans plans = PlanServing(given.space);
  EXPECT_EQ(plans.deployments,
            static_cast<int64_t>(plans.best.size()) + LeftOut(plans));
  // 4 of one pool; of two pools, P replicas of one shape beside any number of
  // the other: 7 + 6 + 5 + 4 of the first, 3 + 3 + 2 + 2, 2 + 2 + 1 + 1, and
  // 1 + 1 + 1 + 1.
  EXPECT_EQ(plans.deployments, 4 + 22 + 10 + 6 + 4);
  const std::string unequal = "leave GPUs over: no whole number of replicas";
  EXPECT_GT(plans.left_out.at(unequal), 0);
  for (const ServingPlan& plan : plans.best) {
    int64_t gpus =
        plan.replicas * given.space.shapes[plan.shape].layout.num_gpus();
    if (plan.prefill_shape) {
      gpus += plan.prefill_replicas *
              given.space.shapes[*plan.prefill_shape].layout.num_gpus();
    }
    EXPECT_EQ(gpus, 8);
    EXPECT_LE(plan.load.ttft, 0.2);
    EXPECT_LE(plan.load.tpot, 0.012);
    EXPECT_NEAR(plan.output_per_gpu, plan.load.rate * 50 / 8, 1e-9);
  }
}

TEST(ServingPlanTest, BisectionFindsWhatAnExhaustiveSearchFinds) {
  Space given;
  for (const double tpot : {0.004, 0.007, 0.012, 0.05}) {
    given.space.most_tpot = tpot;
    given.space.exhaustive = false;
    const ServingPlans fast = PlanServing(given.space);
    given.space.exhaustive = true;
    const ServingPlans all = PlanServing(given.space);
    ASSERT_EQ(fast.best.size(), all.best.size()) << tpot;
    for (size_t i = 0; i < all.best.size(); ++i) {
      EXPECT_EQ(fast.best[i].shape, all.best[i].shape);
      EXPECT_EQ(fast.best[i].prefill_replicas, all.best[i].prefill_replicas);
      EXPECT_EQ(fast.best[i].output_per_gpu, all.best[i].output_per_gpu);
    }
  }
}

TEST(ServingPlanTest, ATighterLimitNeedsMoreGpusForAReplica) {
  Space given;
  given.space.has_pools = false;
  for (ServingShape& shape : given.space.shapes) {
    shape.options.num_blocks = 10'000;
  }
  given.space.most_ttft = 10;
  given.space.most_tpot = 0.05;
  EXPECT_EQ(PlanServing(given.space).best.front().shape, 0u);
  given.space.most_tpot = 0.0035;  // One GPU takes 6 ms at least.
  const ServingPlans plans = PlanServing(given.space);
  EXPECT_EQ(given.space.shapes[plans.best.front().shape].layout.tensor, 4);
  EXPECT_EQ(plans.best.size(), 1u);
  given.space.most_tpot = 0.003;
  EXPECT_TRUE(PlanServing(given.space).best.empty());
  EXPECT_GT(PlanServing(given.space).least_tpot, 0.003);
}

// A request of 50 tokens at 10 s each, one at a time, is 0.002 requests/s; from
// six at a time on it is more than 0.01.
TEST(ServingPlanTest, CountsDeploymentsThatServeNothing) {
  class SlowCost : public StepCost {
   public:
    TimePs TimeOf(const StepWork&) override {
      return TimePs(10'000'000'000'000);
    }
  };
  SlowCost slow;
  Space given;
  given.space.has_pools = false;
  given.space.most_ttft = given.space.most_tpot = 1000;
  for (const size_t shape : {size_t{0}, size_t{1}}) {
    given.space.shapes[shape].cost = &slow;
    given.space.shapes[shape].options.max_sequences = shape == 0 ? 1 : 64;
  }
  given.space.gpus = 2;
  given.space.shapes.resize(2);
  given.space.shapes[0].layout.tensor = 2;
  const ServingPlans plans = PlanServing(given.space);
  ASSERT_EQ(plans.best.size(), 1u);
  EXPECT_EQ(plans.best[0].shape, 1u);
  EXPECT_EQ(plans.left_out.at(std::string(kServeNothing)), 1);
}

// Two ranks that step together are two replicas where both always have as much
// to do, and none waits for the other.
TEST(ServingPlanTest, EqualRanksAreLikeReplicas) {
  Space given;
  given.space.has_pools = false;
  given.space.most_ttft = 10;
  given.space.most_tpot = 0.05;
  given.space.gpus = 2;
  given.space.shapes.resize(1);
  const ServingPlan replicas = PlanServing(given.space).best.at(0);
  given.space.shapes[0].layout.attention_ranks = 2;
  given.space.shapes[0].layout.expert = 2;
  const ServingPlan ranks = PlanServing(given.space).best.at(0);
  EXPECT_EQ(replicas.replicas, 2);
  EXPECT_EQ(ranks.replicas, 1);
  EXPECT_EQ(ranks.output_per_gpu, replicas.output_per_gpu);
  EXPECT_EQ(ranks.load.tpot, replicas.load.tpot);
}

TEST(ServingPlanTest, NoLoadBeatsOneOfTheFront) {
  Space given;
  const ServingPlans plans = PlanServing(given.space);
  ASSERT_GT(plans.front.size(), 2u);
  for (size_t i = 1; i < plans.front.size(); ++i) {
    EXPECT_GT(plans.front[i].load.tpot, plans.front[i - 1].load.tpot);
    EXPECT_GT(plans.front[i].output_per_gpu, plans.front[i - 1].output_per_gpu);
  }
  EXPECT_LE(plans.best.front().output_per_gpu,
            plans.front.back().output_per_gpu);
}

}  // namespace
}  // namespace astra
