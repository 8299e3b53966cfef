#include <string>

#include "astra-core/sweep/results/ranking.h"
#include "tests/astra-core/sweep/results/made_up_table.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using testing::FailedRow;
using testing::FinishedRow;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Numbered;
using testing::PendingRow;

SweepTable Example() {
  SweepTable table;
  table.name = "gpt";
  table.program = "simai_analytical";
  table.version = "0.1.0";
  table.variables = {"topology", "tp", "gpus"};
  table.num_axes = 2;
  table.axis_values = {{"Spectrum-X", "DCN+"}, {"2", "4", "16"}};
  table.metrics = {"iteration_ms",  "compute_ms", "slowed_ms",
                   "exposed_TP_ms", "bubble_ms",  "mfu"};
  table.objectives = {{"iteration_ms", false}, {"mfu", true}};
  table.rows = Numbered(
      {FinishedRow({"Spectrum-X", "2", "8"}, {500, 300, 0, 150, 50, 0.5}),
       FinishedRow({"Spectrum-X", "4", "8"}, {400, 300, 0, 75, 25, 0.4}),
       FinishedRow({"Spectrum-X", "16", "8"}, {1234.5678, 1, 1, 1, 1, 0.3}),
       FailedRow({"DCN+", "2", "8"}, "out of memory", 6),
       FinishedRow({"DCN+", "4", "8"}, {450, 300, 0, 150, 0, {}}),
       PendingRow({"DCN+", "16", "8"}, 6)});
  table.rows[1].commands = {"gen_topo -g 8", "simai_analytical -w a"};
  return table;
}

TEST(DescribeComparisonTest, SaysWhatIsBestAndWhy) {
  EXPECT_EQ(
      DescribeComparison(Example(), 3),
      "sweep      gpt: simai_analytical 0.1.0\n"
      "points     6: 4 finished, 1 failed, 1 not run\n"
      "objective  minimize iteration_ms, maximize mfu\n"
      "warning    1 of 4 that finished: no mfu\n"
      "best       point 2: topology=Spectrum-X tp=4, iteration_ms 400, mfu "
      "0.4\n"
      "\n"
      "ranking\n"
      "  point  topology    tp  iteration_ms  relative  mfu\n"
      "      2  Spectrum-X  4            400   x 1.000  0.4\n"
      "      5  DCN+        4            450   x 1.125    -\n"
      "      1  Spectrum-X  2            500   x 1.250  0.5\n"
      "  and 1 more\n"
      "\n"
      "best of each topology\n"
      "  topology    iteration_ms  relative  point  tp\n"
      "  Spectrum-X           400   x 1.000      2  4\n"
      "  DCN+                 450   x 1.125      5  4\n"
      "\n"
      "best of each tp\n"
      "  tp  iteration_ms  relative  point  topology\n"
      "  2            500   x 1.250      1  Spectrum-X\n"
      "  4            400   x 1.000      2  Spectrum-X\n"
      "  16       1234.57   x 3.086      3  Spectrum-X\n"
      "\n"
      "Pareto front of iteration_ms and mfu: 2 points\n"
      "  point  topology    tp  iteration_ms  relative  mfu\n"
      "      2  Spectrum-X  4            400   x 1.000  0.4\n"
      "      1  Spectrum-X  2            500   x 1.250  0.5\n"
      "\n"
      "time of the best\n"
      "  compute_ms     300   75.0 %\n"
      "  exposed_TP_ms   75   18.8 %\n"
      "  bubble_ms       25    6.2 %\n"
      "  iteration_ms   400  100.0 %\n"
      "\n"
      "commands of the best\n"
      "  gen_topo -g 8\n"
      "  simai_analytical -w a\n"
      "\n"
      "failed\n"
      "  point 4: out of memory\n");
}

TEST(DescribeComparisonTest, LeavesOutWhatThereIsNot) {
  SweepTable table = Example();
  table.metrics[1] = table.metrics[3] = table.metrics[4] = "other";
  table.objectives = {{"mfu", true}};
  table.axis_values[1] = {"4"};
  table.rows = Numbered({FinishedRow({"DCN+", "4", ""}, {2, 1, 0, 1, 1, 0.5})});
  EXPECT_EQ(DescribeComparison(table, 3),
            "sweep      gpt: simai_analytical 0.1.0\n"
            "points     1: 1 finished, 0 failed, 0 not run\n"
            "objective  maximize mfu\n"
            "best       point 1: topology=DCN+ tp=4, mfu 0.5\n"
            "\n"
            "ranking\n"
            "  point  topology  tp  mfu  relative\n"
            "      1  DCN+      4   0.5   x 1.000\n");
}

// The seed takes the place of tp.
TEST(DescribeComparisonTest, HasMeansAndRangesOfRepeats) {
  SweepTable table = Example();
  table.variables[1] = "seed";
  table.has_repeats = true;
  table.objectives.resize(1);
  EXPECT_EQ(DescribeComparison(table, 3),
            "sweep      gpt: simai_analytical 0.1.0\n"
            "points     6: 4 finished, 1 failed, 1 not run\n"
            "objective  minimize iteration_ms\n"
            "repeats    3 of each; metrics are means of those that finished\n"
            "best       point 4: topology=DCN+, iteration_ms 450\n"
            "\n"
            "ranking\n"
            "  point  topology    iteration_ms      min .. max  relative\n"
            "      4  DCN+                 450      450 .. 450   x 1.000\n"
            "      1  Spectrum-X       711.523  400 .. 1234.57   x 1.581\n"
            "\n"
            "best of each topology\n"
            "  topology    iteration_ms  relative  point\n"
            "  Spectrum-X       711.523   x 1.581      1\n"
            "  DCN+                 450   x 1.000      4\n"
            "\n"
            "time of the best\n"
            "  compute_ms     300   66.7 %\n"
            "  exposed_TP_ms  150   33.3 %\n"
            "  iteration_ms   450  100.0 %\n"
            "\n"
            "failed\n"
            "  point 4: out of memory\n");
}

TEST(DescribeComparisonTest, OffersTheMetricThatMayBeMeant) {
  SweepTable table = Example();
  table.objectives = {{"iteration", false}};
  EXPECT_EQ(DescribeComparison(table, 3),
            "sweep      gpt: simai_analytical 0.1.0\n"
            "points     6: 4 finished, 1 failed, 1 not run\n"
            "objective  minimize iteration\n"
            "warning    unknown metric \"iteration\"; did you mean "
            "\"iteration_ms\"? (known: iteration_ms, compute_ms, slowed_ms, "
            "exposed_TP_ms, bubble_ms, mfu)\n"
            "\n"
            "failed\n"
            "  point 4: out of memory\n");
}

TEST(DescribeComparisonTest, LeavesOutWhatIsInfeasible) {
  SweepTable table = Example();
  table.objectives.resize(1);
  table.warnings = {"metric cost: absent"};
  for (const size_t row : {size_t{0}, size_t{1}, size_t{2}}) {
    table.rows[row].state = PointState::kInfeasible;
    table.rows[row].reason = row == 1 ? "misses a" : "misses b";
  }
  EXPECT_THAT(
      DescribeComparison(table, 3),
      HasSubstr("points     6: 4 finished (3 infeasible), 1 failed, 1 not run\n"
                "objective  minimize iteration_ms\n"
                "infeasible 2: misses b\n"
                "infeasible 1: misses a\n"
                "warning    metric cost: absent\n"
                "best       point 5: topology=DCN+ tp=4, iteration_ms 450\n"));
  table.rows[4].state = PointState::kInfeasible;
  for (const size_t row : {size_t{0}, size_t{1}, size_t{2}, size_t{4}}) {
    table.rows[row].reason = fmt::format("misses {}", row);
  }
  for (const std::string reason : {"x", "y"}) {
    table.rows.push_back(table.rows[4]);
    table.rows.back().reason = reason;
  }
  table.rows = Numbered(table.rows);
  EXPECT_EQ(DescribeComparison(table, 3),
            "sweep      gpt: simai_analytical 0.1.0\n"
            "points     8: 6 finished (6 infeasible), 1 failed, 1 not run\n"
            "objective  minimize iteration_ms\n"
            "infeasible 1: misses 0\n"
            "infeasible 1: misses 1\n"
            "infeasible 1: misses 2\n"
            "infeasible 1: misses 4\n"
            "infeasible 1: x\n"
            "infeasible 1: for other reasons\n"
            "warning    metric cost: absent\n"
            "best       none: no point that finished is feasible\n"
            "\n"
            "failed\n"
            "  point 4: out of memory\n");
}

TEST(DescribeComparisonTest, SaysWhichRulesLeftPointsOut) {
  SweepTable table = Example();
  table.objectives.resize(1);
  table.rows[3].state = PointState::kIllegal;
  table.rows[3].reason = "TP 2 does not divide the 3 heads";
  const std::string text = DescribeComparison(table, 3);
  EXPECT_THAT(text,
              HasSubstr("points     6: 4 finished, 1 left out as illegal, "
                        "0 failed, 1 not run\n"
                        "objective  minimize iteration_ms\n"
                        "left out   1: TP 2 does not divide the 3 heads\n"
                        "best       point 2: "));
  EXPECT_THAT(text, Not(HasSubstr("\nfailed\n")));
}

TEST(DescribeComparisonTest, GroupsFailuresByReasonTheMostFrequentFirst) {
  SweepTable table = Example();
  table.rows.clear();
  for (const std::string reason : {"a", "b", "c", "b", "d", "e", "f", "f", "g",
                                   "f", "f", "f", "f", "f", "f", "f", "\n"}) {
    table.rows.push_back(FailedRow({"", ""}, reason, 6));
  }
  table.rows = Numbered(table.rows);
  EXPECT_EQ(DescribeComparison(table, 3),
            "sweep      gpt: simai_analytical 0.1.0\n"
            "points     17: 0 finished, 17 failed, 0 not run\n"
            "objective  minimize iteration_ms, maximize mfu\n"
            "best       none: no point has finished\n"
            "\n"
            "failed\n"
            "  points 7, 8, 10, 11, 12, 13, 14, 15, ...: f\n"
            "  points 2, 4: b\n"
            "  point 1: a\n"
            "  point 3: c\n"
            "  point 5: d\n"
            "  and 3 points for other reasons\n");
}

TEST(DescribeComparisonTest, ShowsTheBestStepsOfALongAxisInItsOrder) {
  SweepTable table = Example();
  table.rows.clear();
  table.axis_values[1].clear();
  table.objectives.resize(1);
  for (int tp = 1; tp <= 25; ++tp) {
    table.axis_values[1].push_back(fmt::format("{}", tp));
    // 3 to 7 are the worst.
    const double time = tp >= 3 && tp <= 7 ? 100 : tp;
    table.rows.push_back(
        FinishedRow({"x", fmt::format("{}", tp)}, {time, 0, 0, 0, 0, 0}));
  }
  table.rows = Numbered(table.rows);
  const std::string text = DescribeComparison(table, 1);
  EXPECT_THAT(text, HasSubstr("  2              2   x 2.000      2  x\n"
                              "  8              8   x 8.000      8  x\n"));
  EXPECT_THAT(text, HasSubstr("  25            25  x 25.000     25  x\n"
                              "  and 5 more\n"));
  EXPECT_THAT(text, Not(HasSubstr("x 100.000")));

  for (SweepRow& row : table.rows) row.metrics[0] = 1;
  EXPECT_THAT(DescribeComparison(table, 1),
              HasSubstr("  20             1   x 1.000     20  x\n"
                        "  and 5 more\n"));
}

}  // namespace
}  // namespace astra
