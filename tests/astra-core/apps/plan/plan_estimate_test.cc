#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "astra-core/apps/plan/plan_run.h"
#include "tests/astra-core/apps/plan/plan_test_job.h"

namespace astra {
namespace {

using ::astra::testing::ReadPlanner;
using ::astra::testing::SearchAs;
using ::astra::testing::ValueOrDie;

class EstimateTest : public ::testing::TestWithParam<std::string> {};

// The formula and the whole iteration price the same operators and collectives.
TEST_P(EstimateTest, IsNearTheWholeIteration) {
  const SimaiPlannerOptions options = ReadPlanner(GetParam());
  const SearchResult best =
      SearchAs(options, {.most = options.candidates,
                         .memory_bytes = UsableMemory(options.job.gpu)});
  const PlanRuns runs = ValueOrDie(RunPlans(options, best));
  ASSERT_FALSE(runs.plans.empty());
  for (const Plan& plan : runs.plans) {
    SCOPED_TRACE(DescribeLayout(options.job, plan.estimate.layout));
    EXPECT_NEAR(plan.estimate.seconds / plan.seconds, 1, 0.12);
    EXPECT_LE(plan.estimate.bytes, plan.allocated.count());
    EXPECT_GE(static_cast<double>(plan.estimate.bytes),
              0.75 * static_cast<double>(plan.allocated.count()));
    EXPECT_NEAR(std::accumulate(plan.terms.begin(), plan.terms.end(), 0.0),
                plan.seconds, 1e-6 * plan.seconds);
    EXPECT_GT(plan.utilisation, 0.05);
    EXPECT_LT(plan.utilisation, 0.8);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, EstimateTest,
    ::testing::Values(
        "-m llama3-8b --gpu H100 --gpus 16 --global-batch 64 --seq-length 8192",
        "-m llama3-8b --gpu H100 --gpus 16 --global-batch 64 --seq-length 8192 "
        "--framework fsdp --candidates 30",
        "-m llama2-70b --gpu H100 --gpus 64 --global-batch 128 --seq-length "
        "4096 --framework megatron-core --candidates 30",
        "-m llama3-8b --gpu H100 --gpus 16 --global-batch 64 --seq-length 8192 "
        "--framework torchtitan --pp 2,4 --candidates 30",
        "-m llama3-70b --gpu H100 --gpus 64 --global-batch 128 --seq-length "
        "8192 --memory 50 --recompute fit,full --candidates 30",
        "-m deepseek-v2 --gpu H100 --gpus 64 --global-batch 256 --seq-length "
        "4096 --dispatcher deepep --candidates 30",
        "-m llama3-8b --gpu H100 --gpus 32 --global-batch 32 --seq-length "
        "32768 --cp 2..16 --cp-method all-gather,all-to-all --candidates 30",
        "-m llama3-70b --gpu H100 --gpus 64 --global-batch 128 --seq-length "
        "8192 --pp 2..8 --order tp-cp-ep-pp-dp --candidates 30",
        "-m gpt-175b --gpu A100 --gpus 256 --global-batch 512 --seq-length "
        "2048 --candidates 30",
        "-m mixtral-8x7b --gpu H100 --gpus 64 --global-batch 256 --seq-length "
        "4096 --candidates 30"));

}  // namespace
}  // namespace astra
