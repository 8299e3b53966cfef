#include "astra-core/sweep/results/row_text.h"

#include <string>

#include "tests/astra-core/sweep/results/made_up_table.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using testing::FinishedRow;
using testing::Numbered;

TEST(RowTextTest, NamesThePointItsAxesAndItsObjectives) {
  SweepTable table;
  table.variables = {"tp", "net", "follows"};
  table.num_axes = 2;
  table.metrics = {"time", "mfu"};
  table.objectives = {{"time", false}, {"none", true}, {"mfu", true}};
  table.rows =
      Numbered({FinishedRow({"8", "a\tb", "x"}, {8094.014984701, {}})});
  EXPECT_EQ(PointText(table, table.rows[0]),
            "point 1: tp=8 net=\"a\\x09b\", time 8094.01, none -, mfu -");
  table.rows[0].values[0] = "pp=4 dp=2";  // Variables that move together.
  EXPECT_EQ(PointText(table, table.rows[0]),
            "point 1: tp=\"pp=4 dp=2\" net=\"a\\x09b\", time 8094.01, none -, "
            "mfu -");
  table.num_axes = 0;
  table.objectives.resize(1);
  EXPECT_EQ(PointText(table, table.rows[0]), "point 1: time 8094.01");
}

TEST(RowTextTest, CountsWhatIsInfeasibleAsFinished) {
  SweepTable table;
  table.rows.resize(5);
  table.rows[1].state = PointState::kFinished;
  EXPECT_EQ(CountFinished(table), 1);
  EXPECT_EQ(InfeasibleText(table), "");
  table.rows[2].state = table.rows[3].state = PointState::kInfeasible;
  table.rows[4].state = PointState::kFailed;
  EXPECT_EQ(CountFinished(table), 3);
  EXPECT_EQ(InfeasibleText(table), " (2 infeasible)");
}

TEST(RowTextTest, GroupsIllegalLayoutsByTheirRule) {
  SweepTable table;
  for (const std::string reason :
       {"EP 2 does not divide DP 3", "TP 3 does not divide the 32 heads",
        "TP 12 does not divide the 32 heads",
        "TP 3 does not divide the 16 "
        "heads"}) {
    table.rows.push_back(testing::FailedRow({}, reason, 0));
    table.rows.back().state = PointState::kIllegal;
  }
  table.rows.push_back(testing::FailedRow({}, "killed", 0));
  table.rows = Numbered(table.rows);
  EXPECT_EQ(IllegalText(table), ", 4 left out as illegal");
  EXPECT_EQ(IllegalReasonsText(table),
            "left out   3: TP 3 does not divide the 32 heads (or with other "
            "numbers)\n"
            "left out   1: EP 2 does not divide DP 3\n");
  table.rows.clear();
  EXPECT_EQ(IllegalText(table) + IllegalReasonsText(table), "");
}

TEST(RowTextTest, CountsInWords) {
  EXPECT_EQ(Counted(1, "point"), "1 point");
  EXPECT_EQ(Counted(0, "point"), "0 points");
  EXPECT_EQ(MoreText(7, 5), "  and 2 more\n");
  EXPECT_EQ(MoreText(5, 5), "");
}

}  // namespace
}  // namespace astra
