#include "astra-core/sweep/results/ranking.h"

#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "fmt/core.h"
#include "tests/astra-core/sweep/results/made_up_table.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using testing::FailedRow;
using testing::FinishedRow;
using ::testing::IsEmpty;
using testing::Numbered;
using testing::PendingRow;

using Values = std::vector<std::optional<double>>;

// Without variables; minimizes "a", then maximizes "b", then minimizes "c".
SweepTable TableOf(const std::vector<Values>& rows) {
  SweepTable table;
  table.metrics = {"a", "b", "c"};
  table.objectives = {{"a", false}, {"b", true}, {"c", false}};
  for (const Values& values : rows) {
    table.rows.push_back(FinishedRow({}, values));
  }
  table.rows = Numbered(table.rows);
  return table;
}

TEST(RankedRowsTest, HasTheBestFirstAndEqualsByNumber) {
  SweepTable table = TableOf({{3, 1, 0},
                              {1, 1, 0},
                              {{}, 9, 0},
                              {3, 5, 0},
                              {2, 1, 0},
                              {-1, 0, 0},
                              {0, 0, 0}});
  table.rows[5].state = PointState::kFailed;
  table.rows[6].state = PointState::kInfeasible;
  EXPECT_THAT(RankedRows(table), ElementsAre(1, 4, 0, 3));
  table.objectives = {{"a", true}};
  EXPECT_THAT(RankedRows(table), ElementsAre(0, 3, 4, 1));
  table.objectives = {{"unknown", true}};
  EXPECT_THAT(RankedRows(table), IsEmpty());
}

TEST(RankedRowsTest, KeepsTheOrderOfManyEquals) {
  const SweepTable table = TableOf(std::vector<Values>(100, {1, 1, 1}));
  std::vector<size_t> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(RankedRows(table), expected);
}

TEST(ParetoRowsTest, HasAllOfTheBestWhereThereIsOneObjective) {
  SweepTable table = TableOf({{3, 1, 0}, {1, 1, 0}, {2, 9, 0}, {1, 0, 0}});
  table.objectives = {{"a", false}};
  EXPECT_THAT(ParetoRows(table), ElementsAre(1, 3));
}

TEST(ParetoRowsTest, HasThoseThatNoOtherIsBetterThanInTwo) {
  SweepTable table = TableOf({{5, 9, 0},    // Best in b.
                              {5, 8, 0},    // Worse than the first in b.
                              {1, 1, 0},    // Best in a.
                              {2, 1, 0},    // Worse than the third in a.
                              {3, 5, 0},    // Between.
                              {3, 5, 0},    // The same.
                              {{}, 99, 0},  // Without a.
                              {0, {}, 0},   // Without b.
                              {4, 5, 0}});  // Worse than the one between.
  table.objectives.resize(2);
  EXPECT_THAT(ParetoRows(table), ElementsAre(0, 2, 4, 5));
  table.rows[2].state = PointState::kFailed;
  EXPECT_THAT(ParetoRows(table), ElementsAre(0, 3, 4, 5));
  table.objectives.push_back({"unknown", false});
  EXPECT_THAT(ParetoRows(table), IsEmpty());
}

TEST(ParetoRowsTest, FindsWhoeverIsBetterAmongAllOfTheFront) {
  // The last is worse than the first alone, which is not the last of the front.
  EXPECT_THAT(ParetoRows(TableOf({{1, 5, 5}, {2, 9, 9}, {3, 1, 1}, {4, 4, 6}})),
              ElementsAre(0, 1, 2));
}

// Whether `x` is better than `y`, spelt out.
bool IsBetter(const Values& x, const Values& y, size_t num_objectives) {
  const bool worse =
      *x[0] > *y[0] || *x[1] < *y[1] || (num_objectives > 2 && *x[2] > *y[2]);
  const bool better =
      *x[0] < *y[0] || *x[1] > *y[1] || (num_objectives > 2 && *x[2] < *y[2]);
  return better && !worse;
}

TEST(ParetoRowsTest, AgreesWithItsDefinition) {
  std::mt19937 random(1);
  for (int round = 0; round < 40; ++round) {
    std::vector<Values> rows(60);
    for (Values& row : rows) {
      for (int i = 0; i < 3; ++i) row.push_back(random() % 8);
    }
    for (const size_t num_objectives : {size_t{2}, size_t{3}}) {
      SweepTable table = TableOf(rows);
      table.objectives.resize(num_objectives);
      std::vector<size_t> expected;
      for (size_t i = 0; i < rows.size(); ++i) {
        bool is_beaten = false;
        for (const Values& other : rows) {
          is_beaten = is_beaten || IsBetter(other, rows[i], num_objectives);
        }
        if (!is_beaten) expected.push_back(i);
      }
      EXPECT_EQ(ParetoRows(table), expected);
    }
  }
}

TEST(MultipleOfTest, IsOneOfEqualsAndInfiniteOfZero) {
  EXPECT_EQ(MultipleOf(4, 5), 1.25);
  EXPECT_EQ(MultipleOf(0, 0), 1);
  EXPECT_TRUE(std::isinf(MultipleOf(0, 1)));
}

// "8: row 3, x 1.5", ...
std::vector<std::string> Texts(const std::vector<AxisStepBest>& steps) {
  std::vector<std::string> texts;
  texts.reserve(steps.size());
  for (const AxisStepBest& step : steps) {
    texts.push_back(
        fmt::format("{}: row {}, x {}", step.value, step.row, step.relative));
  }
  return texts;
}

TEST(BestByAxisTest, HasTheBestOfEachStepInTheOrderOfTheFile) {
  SweepTable table;
  table.variables = {"tp", "net", "follows"};
  table.num_axes = 2;
  table.axis_values = {{"8", "4", "2", "1"}, {"x", "y"}};
  table.metrics = {"time"};
  table.objectives = {{"time", false}};
  table.rows = Numbered(
      {FinishedRow({"8", "x", ""}, {6}), FinishedRow({"8", "y", ""}, {5}),
       FinishedRow({"4", "x", ""}, {4}), FinishedRow({"4", "y", ""}, {5}),
       FailedRow({"2", "x", ""}, "", 1), PendingRow({"2", "y", ""}, 1),
       FinishedRow({"1", "x", ""}, {12}), FinishedRow({"1", "y", ""}, {12})});
  std::vector<std::vector<AxisStepBest>> axes = BestByAxis(table);
  ASSERT_EQ(axes.size(), 2);
  EXPECT_THAT(Texts(axes[0]), ElementsAre("8: row 1, x 1.25", "4: row 2, x 1",
                                          "1: row 6, x 3"));
  EXPECT_THAT(Texts(axes[1]), ElementsAre("x: row 2, x 1", "y: row 1, x 1.25"));

  table.objectives = {{"time", true}};
  axes = BestByAxis(table);
  EXPECT_THAT(Texts(axes[0]),
              ElementsAre("8: row 0, x 0.5", "4: row 3, x 0.4166666666666667",
                          "1: row 6, x 1"));
  table.rows.clear();
  EXPECT_THAT(BestByAxis(table), ElementsAre(IsEmpty(), IsEmpty()));
}

}  // namespace
}  // namespace astra
