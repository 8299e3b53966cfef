#include "astra-core/apps/plan/plan_what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra-core/apps/plan/plan_change.h"
#include "astra-core/apps/plan/plan_limits.h"
#include "fmt/core.h"
#include "tests/astra-core/apps/plan/plan_test_job.h"
#include "tests/testing/files.h"

namespace astra {
namespace {

using ::astra::testing::ReadPlanner;
using ::astra::testing::ValueOrDie;
using ::testing::HasSubstr;

const WhatIf* Find(const std::vector<WhatIf>& changes, std::string_view name) {
  for (const WhatIf& change : changes) {
    if (change.change == name) return &change;
  }
  return nullptr;
}

TEST(PlanWhatIfTest, PlansWithOtherBatchesMemoryAndGpus) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 8 --global-batch 32 --seq-length 4096 "
      "--cp 1 --recompute none");
  const PlanRuns runs =
      ValueOrDie(RunPlans(options, ValueOrDie(SearchLayouts(options))));
  const double seconds = runs.plans.front().seconds;
  const std::vector<WhatIf> changes =
      ValueOrDie(PlanWhatIf(options, runs.plans.front()));

  const WhatIf* twice = Find(changes, "global batch 64");
  ASSERT_TRUE(twice != nullptr && twice->best);
  EXPECT_GT(twice->best->seconds, 1.8 * seconds);
  EXPECT_LT(twice->best->seconds, 2 * seconds);

  const WhatIf* less = Find(changes, "60.0 GiB a GPU");
  ASSERT_TRUE(less != nullptr && less->best);
  EXPECT_GE(less->best->seconds, seconds);

  const WhatIf* more = Find(changes, "16 GPUs");
  ASSERT_TRUE(more != nullptr && more->best);
  EXPECT_LT(more->best->seconds, seconds);
  EXPECT_GT(more->best->seconds, seconds / 2.2);

  // Ever fewer GPUs, down to those where nothing fits.
  const WhatIf* too_few = Find(changes, "2 GPUs");
  ASSERT_NE(too_few, nullptr);
  EXPECT_FALSE(too_few->best);
  EXPECT_EQ(too_few->why_not, "no layout fits");
  EXPECT_THAT(DescribeWhatIf(changes), HasSubstr("no layout fits"));
  EXPECT_THAT(WhatIfCsv(changes), HasSubstr(",\"no layout fits\",false\n"));
}

// A layout that fits, by running each candidate.
bool AnyFits(const SimaiPlannerOptions& options, std::string_view option,
             int64_t value) {
  const SimaiPlannerOptions changed =
      ValueOrDie(WithOption(options, option, fmt::format("{}", value)));
  return !ValueOrDie(RunPlans(changed, ValueOrDie(SearchLayouts(changed))))
              .plans.empty();
}

TEST(PlanWhatIfTest, SaysHowFarTheJobGoes) {
  SimaiPlannerOptions options = ReadPlanner(
      "-m llama2-13b --gpu H100 --gpus 8 --global-batch 48 --seq-length 4096 "
      "--cp 1 --zero 1 --candidates 5 --memory 58");
  const PlanRuns runs =
      ValueOrDie(RunPlans(options, ValueOrDie(SearchLayouts(options))));
  const Plan& plan = runs.plans.front();
  const std::vector<WhatIf> changes = ValueOrDie(PlanWhatIf(options, plan));
  EXPECT_EQ(changes.front().change, "as planned");
  EXPECT_EQ(changes.front().best->seconds, plan.seconds);

  // 18 B for each of 13e9 parameters are 54.5 GiB on each of 4 GPUs, without
  // activations. 5 GPUs hold 8 of the 40 blocks each.
  const WhatIf* fewest = Find(changes, "fewest GPUs: 5");
  ASSERT_TRUE(fewest != nullptr && fewest->best);
  EXPECT_EQ(fewest->num_gpus, 5);
  EXPECT_TRUE(AnyFits(options, "gpus", 5));
  EXPECT_FALSE(AnyFits(options, "gpus", 4));

  // Time falls with every step of the front.
  double before = std::numeric_limits<double>::infinity();
  for (const int64_t gpus : {5, 8, 16}) {
    SCOPED_TRACE(gpus);
    const auto found = std::find_if(
        changes.begin(), changes.end(), [gpus](const WhatIf& change) {
          return change.is_on_front && change.num_gpus == gpus;
        });
    ASSERT_NE(found, changes.end());
    EXPECT_LT(found->best->seconds, before);
    before = found->best->seconds;
  }
  EXPECT_THAT(
      DescribeWhatIf(changes),
      HasSubstr("time against GPUs, none is as fast with fewer: 5 GPUs"));
}

TEST(PlanWhatIfTest, TheLargestBatchFitsAndTheNextDoesNot) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 8 --global-batch 48 --seq-length 4096 "
      "--cp 1 --pp 1 --zero 1 --recompute none --candidates 5");
  Layout layout{.tensor = 2, .sequence_parallel = true};
  const WhatIf answer = ValueOrDie(LargestBatchOf(options, layout));
  ASSERT_TRUE(answer.best);
  // 4 replicas run 12 micro-batches each.
  const int64_t size = answer.best->estimate.layout.micro_batch;
  EXPECT_GT(size, 1);
  EXPECT_EQ(answer.change, fmt::format("plan 1 up to batch {}", 48 * size));
  EXPECT_TRUE(answer.best->fits);
  layout.micro_batch = size + 1;
  const SimaiPlannerOptions more = ValueOrDie(
      WithOption(options, "global-batch", fmt::format("{}", 48 * (size + 1))));
  EXPECT_FALSE(ValueOrDie(MemoryOfLayout(more, layout)).fits);

  // Micro-batches of any layout divide the batch.
  const WhatIf any = ValueOrDie(LargestMicroBatch(options));
  ASSERT_TRUE(any.best);
  const int64_t largest = any.best->estimate.layout.micro_batch;
  EXPECT_EQ(48 % largest, 0);
  EXPECT_TRUE(AnyFits(options, "micro-batch", largest));
  EXPECT_FALSE(AnyFits(options, "micro-batch", 2 * largest));
}

TEST(PlanWhatIfTest, ABatchThatFitsAtOnceGrows) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 8 --global-batch 8 --seq-length 4096 "
      "--tp 8 --cp 1 --pp 1 --zero 1 --recompute full");
  const WhatIf answer = ValueOrDie(LargestMicroBatch(options));
  ASSERT_TRUE(answer.best);
  const int64_t batch = answer.best->estimate.layout.micro_batch;
  EXPECT_GT(batch, 8);
  const auto fits = [&](int64_t size) {
    const SimaiPlannerOptions changed = ValueOrDie(
        WithOption(options, "global-batch", fmt::format("{}", size)));
    return ValueOrDie(MemoryOfLayout(changed, {.tensor = 8,
                                               .micro_batch = size,
                                               .recompute = {Recompute::kFull},
                                               .sequence_parallel = true}))
        .fits;
  };
  EXPECT_TRUE(fits(batch));
  EXPECT_FALSE(fits(batch + 1));
}

TEST(PlanWhatIfTest, FasterNicsAndLargerDomainsAreNoSlower) {
  const testing::TemporaryFolder folder;
  SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 16 --global-batch 32 --seq-length 4096 "
      "--cp 1 --recompute none --tp 8 --pp 1 --zero 1");
  options.output = folder.PathOf("out");
  const std::vector<WhatIf> changes =
      ValueOrDie(PlanWhatIf(options, std::nullopt));
  const WhatIf* fast = Find(changes, "NICs of 800 Gbps");
  const WhatIf* slow = Find(changes, "NICs of 200 Gbps");
  const WhatIf* wide = Find(changes, "NVLink domains of 16");
  ASSERT_TRUE(fast != nullptr && slow != nullptr && wide != nullptr);
  ASSERT_TRUE(fast->best && slow->best && wide->best);
  EXPECT_LT(fast->best->seconds, slow->best->seconds);
  EXPECT_LT(wide->best->seconds, slow->best->seconds);
  EXPECT_THAT(testing::ReadText(folder.PathOf("out/what-if/dgx-h100-nic-800."
                                              "yaml")),
              HasSubstr("nic_Gbps: 800"));
}

std::string NothingLegal(const std::string& text) {
  const SimaiPlannerOptions options =
      ReadPlanner("-m llama3-8b --gpu H100 --seq-length 4096 " + text);
  return std::string(
      NothingIsLegal(options, ValueOrDie(SearchLayouts(options))).message());
}

TEST(NothingIsLegalTest, NamesTheRuleAndTheNearestLegalValue) {
  EXPECT_EQ(NothingLegal("--gpus 8 --global-batch 8 --tp 3 --cp 1 --pp 1 --vpp "
                         "1 --micro-batch 1 --recompute none --zero 1"),
            "none of 2 candidates is a legal layout: of 2, TP x CP x PP does "
            "not divide the GPUs; the nearest that is legal is --tp 2");
  EXPECT_EQ(
      NothingLegal("--gpus 8 --global-batch 12 --tp 1 --cp 1 --pp 1 --vpp "
                   "1 --micro-batch 1 --recompute none --zero 1 "
                   "--schedule 1f1b"),
      "none of 1 candidates is a legal layout: of 1, DP x micro-batch "
      "does not divide the global batch; the nearest that is legal is "
      "--tp 2");
  EXPECT_EQ(NothingLegal("--gpus 7 --global-batch 64"),
            "none of 448 candidates is a legal layout: of 448, DP x "
            "micro-batch does not divide the global batch; the nearest that is "
            "legal is --global-batch 63");
}

TEST(NothingIsLegalTest, NamesTheRuleOfTheCandidatesThatKeepAllOthers) {
  // 48 sizes of TP, CP and PP, of which 19 divide the GPUs, and 112 layouts of
  // each.
  EXPECT_EQ(NothingLegal("--gpus 8 --global-batch 16 --micro-batch 3"),
            "none of 5376 candidates is a legal layout: of 2128, DP x "
            "micro-batch does not divide the global batch; the nearest that is "
            "legal is --micro-batch 2");
  // 32 layouts of each size. DP x micro-batch exceeds the batch in 40 of all.
  EXPECT_EQ(NothingLegal("--gpus 8 --global-batch 16 --schedule 1f1b --vpp 2"),
            "none of 1536 candidates is a legal layout: of 568, VPP above 1 "
            "without the interleaved schedule, or the reverse; the nearest "
            "that is legal is --vpp 1");
}

}  // namespace
}  // namespace astra
