#include "astra-core/sweep/results/row_expression.h"

#include <string>

#include "tests/astra-core/sweep/results/made_up_table.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using testing::FinishedRow;
using testing::StatusIs;
using testing::ValueOrDie;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// The value in a row of a table with two metrics "time"; "bytes" is both.
absl::StatusOr<SweepValue> ValueIn(const std::string& text) {
  SweepTable table;
  table.variables = {"gpus", "bytes"};
  table.metrics = {"time", "bytes", "time", "mfu"};
  const Expression expression = ValueOrDie(Expression::Parse(text));
  return RowExpression(expression, table)
      .Evaluate(FinishedRow({"8", "100"}, {1, 2, 3, {}}));
}

TEST(RowExpressionTest, PrefersVariablesAndThenTheLast) {
  EXPECT_EQ(ValueOrDie(ValueIn("bytes + gpus")), SweepValue(int64_t{108}));
  EXPECT_EQ(ValueOrDie(ValueIn("time")), SweepValue(3.0));
}

TEST(RowExpressionTest, SaysWhichNameIsAmiss) {
  EXPECT_THAT(
      ValueIn("tim + mfu"),
      StatusIs(kInvalid, "unknown variable \"tim\"; did you mean \"time\"?"));
  EXPECT_THAT(ValueIn("mfu + tim"),
              StatusIs(kInvalid, "the point has no \"mfu\""));
  // Not the name that is not read.
  EXPECT_THAT(ValueIn("1 / (gpus - 8) + mfu"),
              StatusIs(kInvalid, "division by zero: 1 / 0"));
  const Expression expression = ValueOrDie(Expression::Parse("a"));
  EXPECT_THAT(RowExpression(expression, SweepTable()).Evaluate(SweepRow()),
              StatusIs(kInvalid, "unknown variable \"a\""));
}

}  // namespace
}  // namespace astra
