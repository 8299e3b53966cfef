#include "astra-core/sweep/results/requirements.h"

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
using testing::ValueOrDie;

using Texts = std::vector<std::string>;

// The states and reasons of four rows: gpus 8 and 16 finished, with "memory" 70
// and 80, the second without "time"; the others did not.
Texts StatesWith(const Texts& requirements) {
  std::vector<Expression> expressions;
  expressions.reserve(requirements.size());
  for (const std::string& text : requirements) {
    expressions.push_back(ValueOrDie(Expression::Parse(text)));
  }
  SweepTable table;
  table.variables = {"gpus"};
  table.num_axes = 1;
  table.metrics = {"memory", "time"};
  table.rows =
      Numbered({FinishedRow({"8"}, {70, 2}), FinishedRow({"16"}, {80, {}}),
                FailedRow({"32"}, "killed", 2), PendingRow({"64"}, 2)});
  ApplyRequirements(expressions, table);
  EXPECT_THAT(table.rows[1].metrics, ElementsAre(80, std::nullopt));
  Texts states;
  states.reserve(table.rows.size());
  for (const SweepRow& row : table.rows) {
    states.push_back(
        fmt::format("{} {}", PointStateName(row.state), row.reason));
  }
  return states;
}

TEST(ApplyRequirementsTest, LeavesRowsThatSatisfyAll) {
  EXPECT_THAT(
      StatesWith({"memory <= 80", "gpus * memory > 500"}),
      ElementsAre("finished ", "finished ", "failed killed", "pending "));
}

TEST(ApplyRequirementsTest, NamesTheFirstThatIsMissed) {
  EXPECT_THAT(StatesWith({"memory > 1", "memory <= 74.5", "gpus > 32"}),
              ElementsAre("infeasible misses gpus > 32",
                          "infeasible misses memory <= 74.5", "failed killed",
                          "pending "));
}

TEST(ApplyRequirementsTest, IsAgainstARowOfWhichItCannotBeTold) {
  EXPECT_THAT(StatesWith({"time < 3"}),
              ElementsAre("finished ",
                          "infeasible cannot tell whether time < 3: the point "
                          "has no \"time\"",
                          "failed killed", "pending "));
  EXPECT_EQ(StatesWith({"gpus < 9 or memry < 3"})[1],
            "infeasible cannot tell whether gpus < 9 or memry < 3: unknown "
            "variable \"memry\"; did you mean \"memory\"?");
  EXPECT_EQ(StatesWith({"memory - 70"})[0],
            "infeasible cannot tell whether memory - 70: \"memory - 70\" is "
            "0.0: expected true or false");
  // What decides is read first.
  EXPECT_EQ(StatesWith({"gpus == 8 or time < 1"})[0], "finished ");
}

}  // namespace
}  // namespace astra
