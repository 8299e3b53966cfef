#include "astra-core/planner/calculon/calculon_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/astra-core/planner/calculon/calculon_test_inputs.h"

namespace astra {
namespace {

using ::astra::testing::CalculonChanges;
using ::astra::testing::CalculonInputsWith;
using ::testing::HasSubstr;
using ::testing::Not;

std::string JsonWith(const CalculonChanges& changes) {
  const CalculonInputs inputs = CalculonInputsWith(changes);
  return CalculonJson(inputs, CalculonCostOf(inputs));
}

TEST(CalculonResultTest, HasTheNamesOfCalculon) {
  const CalculonInputs inputs = CalculonInputsWith({});
  const std::vector<CalculonStatistic> all =
      CalculonStatistics(inputs, CalculonCostOf(inputs));
  ASSERT_EQ(all.size(), 96U);
  EXPECT_EQ(all.front().name, "block_fw_flops");
  EXPECT_EQ(all[8].name, "edgeblock_fw_tp_time_exposed");
  EXPECT_EQ(all.back().name, "sample_rate");
  const std::string json = JsonWith({});
  EXPECT_THAT(json, HasSubstr("\n  \"total_time\": 131.9006167973"));
  EXPECT_THAT(json,
              HasSubstr("\n  \"proc_mem_tier1_cap_req\": 85420663466.66"));
  EXPECT_THAT(json, Not(HasSubstr("null")));
}

TEST(CalculonResultTest, InferenceHasNoCheckpoint) {
  EXPECT_THAT(JsonWith({{"training", "false"},
                        {"optimizer_sharding", "false"},
                        {"activation_recompute", "none"}}),
              HasSubstr("\"act_checkpoint_size_with_offload\": null,"));
}

TEST(CalculonResultTest, TheSummaryLeavesOutWhatTakesNoTime) {
  const CalculonInputs inputs = CalculonInputsWith({});
  const std::string page = DescribeCalculon(inputs, CalculonCostOf(inputs));
  EXPECT_THAT(page, HasSubstr("layout     TP 4 x PP 64 x DP 12 = 3072 "
                              "processors; 64 micro-batches of 4 sequences\n"));
  EXPECT_THAT(page, HasSubstr("  pipeline bubble              65.082896 s   "
                              "49.34 %\n"));
  EXPECT_THAT(page, Not(HasSubstr("offloading")));
}

}  // namespace
}  // namespace astra
