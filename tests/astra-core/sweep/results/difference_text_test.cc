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
using testing::StatusIs;
using testing::ValueOrDie;

// Minimizes "time" over tp and net.
SweepTable SweepA() {
  SweepTable table;
  table.name = "old";
  table.program = "simai_analytical";
  table.variables = {"net", "tp", "gpus"};
  table.num_axes = 2;
  table.axis_values = {{"x", "y"}, {"1", "2", "4"}};
  table.metrics = {"mfu", "time"};
  table.objectives = {{"time", false}, {"mfu", true}};
  table.rows = Numbered({FinishedRow({"x", "1", ""}, {1, 100}),
                         FinishedRow({"x", "2", ""}, {1, 60}),
                         FinishedRow({"x", "4", ""}, {1, 50}),
                         FinishedRow({"y", "1", ""}, {1, 80}),
                         FinishedRow({"y", "2", ""}, {1, 80}),
                         FailedRow({"y", "4", ""}, "", 2)});
  return table;
}

// The same over tp and pp.
SweepTable SweepB() {
  SweepTable table = SweepA();
  table.name = "new";
  table.program = "simai_simulator";
  table.variables = {"tp", "pp"};
  table.axis_values = {{"1", "2", "8"}, {"1", "2"}};
  table.metrics = {"time"};
  table.objectives.resize(1);
  table.rows =
      Numbered({FinishedRow({"1", "1"}, {100}), FinishedRow({"1", "2"}, {120}),
                FinishedRow({"2", "1"}, {99}), FinishedRow({"2", "2"}, {45}),
                FinishedRow({"8", "1"}, {70}), PendingRow({"8", "2"}, 1)});
  return table;
}

TEST(DescribeDifferenceTest, ComparesTheBestOfEachStepOfSharedAxes) {
  // tp=1: 80 to 100; tp=2: 60 to 45; the root of their product is 0.968.
  EXPECT_EQ(ValueOrDie(DescribeDifference(SweepA(), SweepB(), 1)),
            "objective  minimize time\n"
            "A          old: simai_analytical, 5 of 6 points finished\n"
            "best of A  point 3: net=x tp=4, time 50, mfu 1\n"
            "B          new: simai_simulator, 5 of 6 points finished\n"
            "best of B  point 4: tp=2 pp=2, time 45\n"
            "shared     2 points by tp; 1 only in A, 1 only in B\n"
            "of A       the best over net\n"
            "of B       the best over pp\n"
            "B / A      x 0.750 to x 1.250, geometric mean x 0.968\n"
            "\n"
            "time of A and B, those that differ most first\n"
            "  tp  point A  point B   A   B    B / A\n"
            "  2         2        4  60  45  x 0.750\n"
            "  and 1 more\n");
}

TEST(DescribeDifferenceTest, ComparesAllPointsWhereAllAxesAreShared) {
  SweepTable other = SweepA();
  other.rows[1].metrics[1] = 60.3;
  other.rows[3].metrics[1] = 40;
  EXPECT_EQ(ValueOrDie(DescribeDifference(SweepA(), other, 9)),
            "objective  minimize time\n"
            "A          old: simai_analytical, 5 of 6 points finished\n"
            "best of A  point 3: net=x tp=4, time 50, mfu 1\n"
            "B          old: simai_analytical, 5 of 6 points finished\n"
            "best of B  point 4: net=y tp=1, time 40, mfu 1\n"
            "shared     5 points by net, tp; 0 only in A, 0 only in B\n"
            "B / A      x 0.500 to x 1.005, geometric mean x 0.871\n"
            "\n"
            "time of A and B, those that differ most first\n"
            "  net  tp  point A  point B    A     B    B / A\n"
            "  y    1         4        4   80    40  x 0.500\n"
            "  x    2         2        2   60  60.3  x 1.005\n"
            "  x    1         1        1  100   100  x 1.000\n"
            "  x    4         3        3   50    50  x 1.000\n"
            "  y    2         5        5   80    80  x 1.000\n");
}

// The seeds are no axis to share.
TEST(DescribeDifferenceTest, ComparesMeansOfRepeats) {
  SweepTable repeated = SweepA();
  repeated.variables[1] = "seed";
  repeated.has_repeats = true;
  SweepTable single = SweepA();
  single.rows.resize(1);
  single.variables = {"net", "seed", "gpus"};
  single.rows[0].metrics[1] = 35;
  // (100 + 60 + 50) / 3 = 70.
  EXPECT_THAT(ValueOrDie(DescribeDifference(repeated, single, 9)),
              HasSubstr("  net  point A  point B   A   B    B / A\n"
                        "  x          1        1  70  35  x 0.500\n"));
}

TEST(DescribeDifferenceTest, CountsWhatIsInfeasibleAsFinishedOnly) {
  SweepTable table = SweepA();
  for (SweepRow& row : table.rows) {
    if (row.state == PointState::kFinished) row.state = PointState::kInfeasible;
  }
  EXPECT_THAT(ValueOrDie(DescribeDifference(table, SweepA(), 9)),
              HasSubstr("5 of 6 points finished (5 infeasible)\n"
                        "best of A  none\n"));
}

TEST(DescribeDifferenceTest, HasNoMeanOfWhatHasNoRatio) {
  SweepTable other = SweepA();
  SweepTable table = SweepA();
  table.rows[3].metrics[1] = 0;
  const std::string text = ValueOrDie(DescribeDifference(table, other, 9));
  EXPECT_THAT(text, Not(HasSubstr("geometric")));
  EXPECT_THAT(text,
              HasSubstr("    A    B    B / A\n"
                        "  y    1         4        4    0   80        -\n"));
}

TEST(DescribeDifferenceTest, SaysWhereNoPointIsShared) {
  SweepTable other = SweepB();
  for (SweepRow& row : other.rows) row.values[0] = "16";
  EXPECT_THAT(ValueOrDie(DescribeDifference(SweepA(), other, 9)),
              HasSubstr("shared     0 points by tp; 3 only in A, 1 only in B\n"
                        "of A       the best over net\n"
                        "of B       the best over pp\n"));
  other.rows.clear();
  EXPECT_THAT(ValueOrDie(DescribeDifference(SweepA(), other, 9)),
              HasSubstr("best of B  none\n"));
}

TEST(DescribeDifferenceTest, RefusesSweepsThatHaveNothingInCommon) {
  SweepTable other = SweepB();
  other.variables = {"dp", "pp"};
  EXPECT_THAT(
      DescribeDifference(SweepA(), other, 9),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "the sweeps share no axis: \"old\" has net, tp; \"new\" has dp, "
               "pp"));
  other = SweepB();
  other.objectives.front().maximize = true;
  EXPECT_THAT(
      DescribeDifference(SweepA(), other, 9),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "the sweeps differ in their first objective: \"old\" has to "
               "minimize time; \"new\" has to maximize time"));
}

}  // namespace
}  // namespace astra
