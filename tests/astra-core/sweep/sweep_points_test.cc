#include "astra-core/sweep/sweep_points.h"

#include <string>
#include <vector>

#include "fmt/core.h"
#include "tests/astra-core/sweep/small_sweeps.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::Read;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

std::vector<std::string> Describe(const SweepPoints& points,
                                  const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  for (const SweepPoint& point : points.points) {
    texts.push_back(fmt::format("{}: {}", point.number,
                                DescribeVariables(names, point.variables)));
  }
  return texts;
}

TEST(ExpandSweepTest, MovesTheLastAxisFastest) {
  const Sweep sweep = Read(
      "axes: {a: [x, y], b: [1, 2, 3]}\n"
      "run: {overlap: \"${a == 'x' and b == 1}\"}\n");
  const SweepPoints points = ValueOrDie(ExpandSweep(sweep));
  EXPECT_EQ(
      Describe(points, points.axis_variables),
      (std::vector<std::string>{"1: a=x b=1", "2: a=x b=2", "3: a=x b=3",
                                "4: a=y b=1", "5: a=y b=2", "6: a=y b=3"}));
  EXPECT_TRUE(points.skipped.empty());
}

TEST(ExpandSweepTest, IsOnePointWithoutAxes) {
  const SweepPoints points =
      ValueOrDie(ExpandSweep(Read("run: {overlap: true}\n")));
  ASSERT_EQ(points.points.size(), 1);
  EXPECT_TRUE(points.points[0].variables.empty());
}

TEST(ExpandSweepTest, ComputesDefinitionsFromAxesAndEarlierOnes) {
  const Sweep sweep = Read(
      "axes: {tp: [2, 4]}\n"
      "let: {gpus: 64, dp: \"${gpus / tp}\", name: \"t${tp}_d${dp * 2}\"}\n"
      "run: {workload: \"${name}\"}\n");
  const SweepPoints points = ValueOrDie(ExpandSweep(sweep));
  EXPECT_EQ(points.axis_variables, std::vector<std::string>{"tp"});
  EXPECT_EQ(points.variables,
            (std::vector<std::string>{"tp", "gpus", "dp", "name"}));
  EXPECT_EQ(Describe(points, points.variables),
            (std::vector<std::string>{"1: tp=2 gpus=64 dp=32 name=t2_d64",
                                      "2: tp=4 gpus=64 dp=16 name=t4_d32"}));
}

TEST(ExpandSweepTest, MovesTheVariablesOfAnAxisTogether) {
  const Sweep sweep = Read(
      "axes:\n"
      "  layout:\n"
      "    - {tp: 8, pp: 1}\n"
      "    - {pp: 2, tp: 4}\n"
      "  size: [S, L]\n"
      "run: {workload: \"${tp} ${pp} ${size} ${layout}\"}\n");
  const SweepPoints points = ValueOrDie(ExpandSweep(sweep));
  EXPECT_EQ(points.axis_variables,
            (std::vector<std::string>{"tp", "pp", "size"}));
  EXPECT_EQ(points.variables,
            (std::vector<std::string>{"layout", "size", "tp", "pp"}));
  EXPECT_EQ(Describe(points, points.variables),
            (std::vector<std::string>{"1: layout=tp=8 pp=1 size=S tp=8 pp=1",
                                      "2: layout=tp=8 pp=1 size=L tp=8 pp=1",
                                      "3: layout=tp=4 pp=2 size=S tp=4 pp=2",
                                      "4: layout=tp=4 pp=2 size=L tp=4 pp=2"}));
}

TEST(ExpandSweepTest, LeavesOutWhatARuleDoesAndNumbersTheRest) {
  const Sweep sweep = Read(
      "axes: {a: [1, 2, 3], b: [1, 2]}\n"
      "let: {sum: \"${a + b}\"}\n"
      "constraints: [sum != 3]\n"
      "exclude: [a == 1, b == 1]\n"
      "run: {workload: \"${a}\"}\n");
  const SweepPoints points = ValueOrDie(ExpandSweep(sweep));
  EXPECT_EQ(Describe(points, points.axis_variables),
            (std::vector<std::string>{"1: a=2 b=2", "2: a=3 b=2"}));
  // 1,1 by the second; 1,2 and 2,1 by the first though others would; 3,1.
  std::vector<std::string> skipped;
  for (const auto& [combination, rule] : points.skipped) {
    skipped.push_back(
        fmt::format("{}: {}", rule,
                    DescribeVariables(points.axis_variables,
                                      AxisVariablesOf(sweep, combination))));
  }
  EXPECT_EQ(skipped, (std::vector<std::string>{"1: a=1 b=1", "0: a=1 b=2",
                                               "0: a=2 b=1", "2: a=3 b=1"}));
}

TEST(ExpandSweepTest, RefusesRulesThatLeaveNothing) {
  EXPECT_THAT(
      ExpandSweep(Read("axes: {a: [1, 2, 3]}\n"
                       "constraints: [a > 1, a > 3]\n"
                       "run: {workload: \"${a}\"}\n")),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "s.yaml:3:22: the rules leave none of 3 combinations, this one "
               "alone leaves out 2"));
}

TEST(ExpandSweepTest, SaysWhereAndAtWhichPointARuleOrDefinitionFails) {
  EXPECT_THAT(ExpandSweep(Read("axes: {tp: [2, 0], pp: [4]}\n"
                               "constraints: [8 % tp == 0]\n"
                               "run: {workload: \"${tp} ${pp}\"}\n")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "s.yaml:3:15: division by zero: 8 % 0 (at tp=0 pp=4)"));
  EXPECT_THAT(ExpandSweep(Read("axes: {tp: [2]}\n"
                               "constraints: [8 % tp]\n"
                               "run: {workload: \"${tp}\"}\n")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "s.yaml:3:15: \"8 % tp\" is 0: expected true or false "
                       "(at tp=2)"));
  EXPECT_THAT(ExpandSweep(Read("axes: {tp: [2, eight]}\n"
                               "let:\n"
                               "  dp: ${64 / tp}\n"
                               "run: {workload: \"${dp}\"}\n")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "s.yaml:4:7: \"/\" takes two numbers: found \"eight\" "
                       "(at tp=eight)"));
}

TEST(ExpandSweepTest, LimitsCombinationsAndPoints) {
  const std::string_view axes =
      "axes: {a: {from: 1, to: 5000, step: 1},"
      " b: {from: 1, to: 2000, step: 1}";
  const std::string_view options = "run: {workload: \"${a} ${b}\"}\n";
  EXPECT_THAT(ExpandSweep(Read(fmt::format("{}, c: [1, 2]}}\nrun: {{workload: "
                                           "\"${{a}} ${{b}} ${{c}}\"}}\n",
                                           axes))),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the axes have more than 10000000 combinations"));
  EXPECT_THAT(ExpandSweep(Read(fmt::format("{}}}\n{}", axes, options))),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "more than 100000 points, of 10000000 combinations"));
}

TEST(ExpandSweepTest, TakesAsManyPointsAsItAllows) {
  const Sweep sweep = Read(
      "axes: {a: {from: 1, to: 400, step: 1}, b: {from: 1, to: 251, step: 1}}\n"
      "exclude: [b == 251]\n"
      "run: {workload: \"${a} ${b}\"}\n");
  const SweepPoints points = ValueOrDie(ExpandSweep(sweep));
  ASSERT_EQ(points.points.size(), kMaxPoints);
  EXPECT_EQ(points.skipped.size(), 400);
  EXPECT_EQ(points.points.back().number, 100'000);
  EXPECT_EQ(
      DescribeVariables(points.axis_variables, points.points.back().variables),
      "a=400 b=250");
}

}  // namespace
}  // namespace astra
