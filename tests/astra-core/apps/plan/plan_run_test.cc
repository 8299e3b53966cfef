#include "astra-core/apps/plan/plan_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "astra-core/apps/iteration_run.h"
#include "fmt/ranges.h"
#include "tests/astra-core/apps/plan/plan_test_job.h"
#include "workload/program_file.h"

namespace astra {
namespace {

using ::astra::testing::ReadPlanner;
using ::astra::testing::SearchAs;
using ::astra::testing::ValueOrDie;

SearchResult SearchOf(const SimaiPlannerOptions& options) {
  return SearchAs(options, {.most = options.candidates,
                            .memory_bytes = UsableMemory(options.job.gpu)});
}

// The commands of a plan make the program that was run.
class CommandsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(CommandsTest, MakeTheSameProgram) {
  const SimaiPlannerOptions options = ReadPlanner(GetParam());
  for (const EstimatedLayout& estimate : SearchOf(options).best) {
    std::vector<std::string> words = options.workload_words;
    for (const std::string& word : OptionsOf(options.job, estimate.layout)) {
      words.push_back(word);
    }
    SCOPED_TRACE(fmt::format("{}", fmt::join(words, " ")));
    std::vector<const char*> argv = {"gen_workload"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    const CommandLine flags = ValueOrDie(CommandLine::Parse(
        GenWorkloadOptionSpecs(), static_cast<int>(argv.size()), argv.data()));
    const Program typed =
        ValueOrDie(GenerateProgram(ValueOrDie(ReadGenWorkloadOptions(flags))));
    const Program planned =
        ValueOrDie(GenerateProgram(WorkloadOf(options, estimate.layout)));
    EXPECT_EQ(FormatProgram(typed), FormatProgram(planned));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, CommandsTest,
    ::testing::Values(
        "-m llama3-8b --gpu H100 --gpus 16 --global-batch 64 --seq-length 8192 "
        "--framework megatron-core --candidates 40",
        "-m mixtral-8x7b --gpu H100 --gpus 32 --global-batch 64 --seq-length "
        "4096 --ep 1,4 --etp 1,2 --candidates 40",
        "-m llama3-70b --gpu H100 --gpus 64 --global-batch 64 --seq-length "
        "8192 --recompute full --recompute-num-layers all,2,3 "
        "--recompute-method block,uniform --candidates 20",
        "-m llama3-70b --gpu H100 --gpus 64 --global-batch 64 --seq-length "
        "8192 --recompute fit --candidates 20",
        "-m deepseek-v2 --gpu H100 --gpus 64 --global-batch 64 --seq-length "
        "4096 --recompute selective --recompute-modules "
        "core_attn,moe_act+layernorm --candidates 20",
        "-m llama3-8b --gpu H100 --gpus 16 --global-batch 64 --seq-length 8192 "
        "--framework torchtitan --pp 2,4 --candidates 20",
        "-m llama3-8b --gpu H100 --gpus 32 --global-batch 32 --seq-length "
        "32768 --framework megatron-core --cp 1,2,4 --cp-method "
        "all-gather,all-to-all --overlap none,tp,gradients+parameters "
        "--candidates 40",
        "-m deepseek-v2 --gpu H100 --gpus 64 --global-batch 256 --seq-length "
        "4096 --overlap none,shared_experts --ep 1,8 --candidates 20",
        "-m mixtral-8x7b --gpu H100 --gpus 32 --global-batch 64 --seq-length "
        "4096 --pp 2,4 --order ep-tp-cp-pp-dp,tp-cp-ep-dp-pp --candidates 40",
        "-m deepseek-v3 --gpu H800 --gpus 256 --global-batch 512 --seq-length "
        "4096 --framework megatron-bridge --schedule dualpipe,zb-v "
        "--candidates 10",
        "-m llama2-7b --gpu A100 --gpus 16 --global-batch 64 --seq-length 4096 "
        "--framework internevo --candidates 20",
        "-m llama2-7b --gpu A100 --gpus 16 --global-batch 64 --seq-length 4096 "
        "--framework fsdp --candidates 20"));

// As programs need workspaces, the number may be larger than by the formula.
TEST(PlanRunTest, TheRecomputationThatJustFitsIsTheLeast) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-70b --gpu H100 --gpus 64 --global-batch 64 --seq-length 8192 "
      "--recompute none,fit --memory 50 --candidates 12");
  const PlanRuns runs = ValueOrDie(RunPlans(options, SearchOf(options)));
  int64_t found = 0;
  for (const Plan& plan : runs.plans) {
    if (!plan.estimate.layout.recompute.just_fits) continue;
    ++found;
    EXPECT_GT(plan.estimate.seconds, 0);
    Layout less = plan.estimate.layout;
    if (--less.recompute.layers == 0) less.recompute = {};
    const Plan fewer = ValueOrDie(RunLayout(options, less));
    EXPECT_FALSE(fewer.fits);
    EXPECT_LT(fewer.seconds, plan.seconds);
  }
  EXPECT_GT(found, 3);
}

TEST(PlanRunTest, SearchAndProgramsMeanTheSameByTheMemoryOfAGpu) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 8 --global-batch 16 --seq-length 4096 "
      "--memory 40");
  const Program program = ValueOrDie(GenerateProgram(WorkloadOf(options, {})));
  EXPECT_EQ(program.gpu().memory, MiB(40 * 1024));
  EXPECT_EQ(UsableMemory(options.job.gpu),
            std::llround(0.94 * 39 * (int64_t{1} << 30)));
}

// Of the groups of 5 ranks, some are on one server of 8 GPUs and some on two,
// so that they run other algorithms.
TEST(PlanRunTest, GroupsMayLieDifferently) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m deepseek-v2 --gpu H100 --gpus 40 --global-batch 40 --seq-length 4096 "
      "--tp 1 --cp 1 --pp 1 --vpp 1 --ep 5 --micro-batch 1 --zero 1 --memory "
      "900 --recompute none");
  const PlanRuns runs = ValueOrDie(RunPlans(options, SearchOf(options)));
  ASSERT_EQ(runs.plans.size(), 1U);
  EXPECT_NEAR(runs.plans[0].estimate.seconds / runs.plans[0].seconds, 1, 0.05);
}

TEST(PlanRunTest, ThreadsChangeNothing) {
  SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 8 --global-batch 16 --seq-length 4096 "
      "--candidates 20");
  const SearchResult search = SearchOf(options);
  const PlanRuns one = ValueOrDie(RunPlans(options, search));
  options.threads = 3;
  const PlanRuns three = ValueOrDie(RunPlans(options, search));
  ASSERT_EQ(one.plans.size(), three.plans.size());
  for (size_t i = 0; i < one.plans.size(); ++i) {
    EXPECT_EQ(one.plans[i].estimate.layout, three.plans[i].estimate.layout);
    EXPECT_EQ(one.plans[i].seconds, three.plans[i].seconds);
  }
}

TEST(PlanRunTest, TheFastestIsEfficientAndOthersTakeLessMemory) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 8 --global-batch 16 --seq-length 4096");
  const PlanRuns runs = ValueOrDie(RunPlans(options, SearchOf(options)));
  ASSERT_GT(runs.plans.size(), 1U);
  EXPECT_TRUE(runs.plans.front().is_efficient);
  Bytes least = runs.plans.front().reserved;
  for (size_t i = 1; i < runs.plans.size(); ++i) {
    const Plan& plan = runs.plans[i];
    EXPECT_GE(plan.seconds, runs.plans[i - 1].seconds);
    EXPECT_EQ(plan.is_efficient, plan.reserved < least);
    least = std::min(least, plan.reserved);
  }
}

TEST(PlanRunTest, ACloserFidelityRunsTheFirst) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 8 --global-batch 8 --seq-length 4096 "
      "--tp 2,4 --pp 1 --cp 1 --recompute none --micro-batch 1 --zero 1 "
      "--fidelity flow --simulate 1");
  const PlanRuns runs = ValueOrDie(RunPlans(options, SearchOf(options)));
  ASSERT_GT(runs.plans.size(), 1U);
  ASSERT_TRUE(runs.plans[0].closer_seconds.has_value());
  EXPECT_NEAR(*runs.plans[0].closer_seconds / runs.plans[0].seconds, 1, 0.1);
  EXPECT_FALSE(runs.plans[1].closer_seconds.has_value());
}

TEST(PlanRunTest, RefusesAClusterWithOtherGpus) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 8 --global-batch 16 --seq-length 4096 "
      "--system dgx-a100");
  EXPECT_EQ(SearchLayouts(options).status().message(),
            "--gpu-type is \"h100-sxm\", but --system has \"a100-sxm-80gb\"");
}

}  // namespace
}  // namespace astra
