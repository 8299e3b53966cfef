#include "astra-core/apps/plan/plan_what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra-core/apps/plan/plan_change.h"
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
  const std::vector<WhatIf> changes = ValueOrDie(PlanWhatIf(options));

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
  EXPECT_FALSE(changes.back().best);
  EXPECT_EQ(changes.back().why_not, "no layout fits");
  EXPECT_THAT(DescribeWhatIf(changes), HasSubstr("no layout fits"));
  EXPECT_THAT(WhatIfCsv(changes), HasSubstr(",\"no layout fits\"\n"));
}

TEST(PlanWhatIfTest, FasterNicsAndLargerDomainsAreNoSlower) {
  const testing::TemporaryFolder folder;
  SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 16 --global-batch 32 --seq-length 4096 "
      "--cp 1 --recompute none --tp 8 --pp 1 --zero 1");
  options.output = folder.PathOf("out");
  const std::vector<WhatIf> changes = ValueOrDie(PlanWhatIf(options));
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

}  // namespace
}  // namespace astra
