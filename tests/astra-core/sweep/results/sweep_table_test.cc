#include "astra-core/sweep/results/sweep_table.h"

#include <optional>
#include <string>
#include <vector>

#include "tests/astra-core/sweep/results/made_up_table.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using testing::FailedRow;
using testing::FinishedRow;
using testing::Numbered;
using testing::PendingRow;

TEST(SweepTableTest, FindsMetricsByTheirWholeName) {
  SweepTable table;
  table.metrics = {"a_ms", "a"};
  EXPECT_EQ(FindMetric(table, "a"), 1);
  EXPECT_EQ(FindMetric(table, "A"), std::nullopt);
}

// tp = 1, 2 and three seeds; "name" follows from the seed.
SweepTable Repeated() {
  SweepTable table;
  table.variables = {"tp", "seed", "name"};
  table.num_axes = 2;
  table.axis_values = {{"1", "2"}, {"1", "2", "3"}};
  table.has_repeats = true;
  table.metrics = {"time", "mfu", "drops"};
  table.objectives = {{"time", false}, {"none", false}, {"time", true}};
  table.rows = Numbered({FinishedRow({"1", "1", "r1"}, {10, 0.5, 1}),
                         FinishedRow({"1", "2", "r2"}, {13, 0.25, {}}),
                         FinishedRow({"1", "3", "r3"}, {7, 0.75, 4}),
                         PendingRow({"2", "1", "r1"}, 3),
                         FailedRow({"2", "2", "r2"}, "no memory", 3),
                         FinishedRow({"2", "3", "r3"}, {5, {}, {}})});
  table.rows[0].cost = {1, 2, 30, "a", "2026-01-31T12:00:02Z", 1};
  table.rows[1].cost = {4, 8, 50, "b", "2026-01-31T12:00:03Z", 2};
  table.rows[2].cost = {16, 32, 40, "c", "2026-01-31T12:00:01Z", 1};
  table.rows[4].commands = {"run 5"};
  table.rows[4].metrics = {99, 99, 99};  // Of a run that failed.
  table.rows[5].commands = {"run 6"};
  return table;
}

TEST(MergeRepeatsTest, TakesTheMeanOfTheRunsThatHaveTheMetric) {
  const SweepTable merged = MergeRepeats(Repeated());
  EXPECT_FALSE(merged.has_repeats);
  EXPECT_THAT(merged.variables, ElementsAre("tp", "name"));
  EXPECT_EQ(merged.num_axes, 1);
  EXPECT_THAT(merged.axis_values, ElementsAre(ElementsAre("1", "2")));
  EXPECT_THAT(merged.metrics,
              ElementsAre("time", "mfu", "drops", "time_min", "time_max"));
  ASSERT_EQ(merged.rows.size(), 2);
  EXPECT_EQ(merged.rows[0].number, 1);
  EXPECT_EQ(merged.rows[0].key, "k1");
  EXPECT_EQ(merged.rows[0].state, PointState::kFinished);
  EXPECT_EQ(merged.rows[0].reason, "");
  EXPECT_THAT(merged.rows[0].values, ElementsAre("1", "r1"));
  EXPECT_THAT(merged.rows[0].metrics, ElementsAre(10, 0.5, 2.5, 7, 13));
  EXPECT_EQ(merged.rows[1].number, 4);
  EXPECT_THAT(merged.rows[1].metrics,
              ElementsAre(5, std::nullopt, std::nullopt, 5, 5));
}

TEST(MergeRepeatsTest, SaysWhatBecameOfAllRuns) {
  SweepTable table = Repeated();
  SweepTable merged = MergeRepeats(table);
  ASSERT_TRUE(merged.rows[0].cost.has_value());
  EXPECT_EQ(merged.rows[0].cost->wall_s, 21);
  EXPECT_EQ(merged.rows[0].cost->cpu_s, 42);
  EXPECT_EQ(merged.rows[0].cost->peak_memory_mib, 50);
  EXPECT_EQ(merged.rows[0].cost->host, "a");
  EXPECT_EQ(merged.rows[0].cost->ended, "2026-01-31T12:00:03Z");
  EXPECT_EQ(merged.rows[0].cost->attempts, 4);
  EXPECT_EQ(merged.rows[1].state, PointState::kFinished);
  EXPECT_EQ(merged.rows[1].reason, "1 of 3 repeats failed: no memory");
  EXPECT_THAT(merged.rows[1].commands, ElementsAre("run 5"));
  EXPECT_FALSE(merged.rows[1].cost.has_value());

  table.rows[5].state = PointState::kPending;
  EXPECT_EQ(MergeRepeats(table).rows[1].state, PointState::kFailed);
  table.rows[3] = table.rows[5] = table.rows[4];
  merged = MergeRepeats(table);
  EXPECT_EQ(merged.rows[1].reason, "no memory");
  table.rows[3].state = table.rows[4].state = table.rows[5].state =
      PointState::kPending;
  EXPECT_EQ(MergeRepeats(table).rows[1].state, PointState::kPending);
}

TEST(MergeRepeatsTest, IsInfeasibleWhereOneIs) {
  SweepTable table = Repeated();
  table.rows[1].state = table.rows[5].state = PointState::kInfeasible;
  table.rows[1].reason = table.rows[5].reason = "misses a";
  const SweepTable merged = MergeRepeats(table);
  EXPECT_EQ(merged.rows[0].state, PointState::kInfeasible);
  EXPECT_EQ(merged.rows[0].reason, "1 of 3 repeats are infeasible: misses a");
  EXPECT_EQ(merged.rows[0].metrics[0], 10);  // (10 + 13 + 7) / 3.
  EXPECT_EQ(merged.rows[1].state, PointState::kInfeasible);
  EXPECT_EQ(merged.rows[1].reason,
            "1 of 3 repeats are infeasible: misses a; 1 of 3 repeats failed: "
            "no memory");
  EXPECT_EQ(merged.rows[1].metrics[0], 5);
}

TEST(MergeRepeatsTest, IsIllegalWhereNothingElseCameOfIt) {
  SweepTable table = Repeated();
  for (const size_t row : {size_t{3}, size_t{4}, size_t{5}}) {
    table.rows[row].state = PointState::kIllegal;
    table.rows[row].reason = "a rule";
  }
  EXPECT_EQ(MergeRepeats(table).rows[1].state, PointState::kIllegal);
  EXPECT_EQ(MergeRepeats(table).rows[1].reason, "a rule");
  table.rows[5].state = PointState::kFailed;
  EXPECT_EQ(MergeRepeats(table).rows[1].state, PointState::kFailed);
  EXPECT_EQ(MergeRepeats(table).rows[1].reason,
            "2 of 3 repeats are illegal: a rule; 1 of 3 repeats failed: a "
            "rule");
}

TEST(MergeRepeatsTest, KeepsMeansWithinTheirRange) {
  SweepTable table = Repeated();
  // 0.1 + 0.1 + 0.1 is more than 0.3.
  for (SweepRow& row : table.rows) {
    row.state = PointState::kFinished;
    row.metrics[0] = 0.1;
  }
  EXPECT_EQ(MergeRepeats(table).rows[0].metrics[0], 0.1);
}

TEST(MergeRepeatsTest, LeavesATableWithoutRepeatsAsItIs) {
  SweepTable table = Repeated();
  table.has_repeats = false;
  const SweepTable merged = MergeRepeats(table);
  EXPECT_EQ(merged.rows.size(), 6);
  EXPECT_EQ(merged.variables, table.variables);
  EXPECT_EQ(merged.metrics, table.metrics);
}

TEST(DistinctColumnsTest, EndsNamesThatAreTaken) {
  const ColumnNames names = DistinctColumns(
      {"point", "state"}, std::vector<std::string>{"tp", "State", "bytes"},
      std::vector<std::string>{"bytes", "TP", "time", "bytes_metric",
                               "state_variable"});
  EXPECT_THAT(names.variables, ElementsAre("tp", "State_variable", "bytes"));
  EXPECT_THAT(names.metrics,
              ElementsAre("bytes_metric", "TP_metric", "time",
                          "bytes_metric_metric", "state_variable_metric"));
}

}  // namespace
}  // namespace astra
