#include "network-frontends/flow/max_min.h"

#include <cstdint>
#include <vector>

#include "astra-core/base/random.h"
#include "tests/network-frontends/flow/max_min_certificate.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ExpectMaxMin;
using ::astra::testing::RandomMaxMinProblem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

MaxMinRates Solve(const MaxMinProblem& problem) {
  MaxMinSolver solver;
  MaxMinRates result;
  solver.Solve(problem, &result);
  return result;
}

TEST(MaxMinTest, OneLinkIsSharedAlike) {
  MaxMinProblem problem{.capacities = {12}};
  for (int i = 0; i < 4; ++i) problem.AddClass({0}, 1);
  EXPECT_THAT(Solve(problem).rates, ElementsAre(3, 3, 3, 3));
}

TEST(MaxMinTest, NothingFollowsFromNothing) {
  EXPECT_THAT(Solve({.capacities = {1, 2}}).rates, IsEmpty());
}

// A long flow over three links, and one or two more on each.
TEST(MaxMinTest, AParkingLotGivesEachLinkToItsOwn) {
  MaxMinProblem problem{.capacities = {10, 10, 10}};
  problem.AddClass({0, 1, 2}, 1);
  problem.AddClass({0}, 1);
  problem.AddClass({1}, 1);
  problem.AddClass({2}, 1);
  problem.AddClass({2}, 1);
  const MaxMinRates result = Solve(problem);
  const double third = 10.0 / 3;
  EXPECT_THAT(result.rates,
              ElementsAre(third, 10 - third, 10 - third, third, third));
  EXPECT_THAT(result.bottlenecks, ElementsAre(2, 0, 1, 2, 2));
}

// The example of Bertsekas and Gallager, section 6.5.2: five sessions, of which
// three share a link at 1/3 each, and the others get what is left, 2/3 and 1.
TEST(MaxMinTest, TwoBottlenecks) {
  MaxMinProblem problem{.capacities = {1, 1, 1, 1}};
  problem.AddClass({1, 2, 3}, 1);
  problem.AddClass({1}, 1);
  problem.AddClass({1}, 1);
  problem.AddClass({2}, 1);
  problem.AddClass({0}, 1);
  EXPECT_THAT(Solve(problem).rates,
              ElementsAre(1.0 / 3, 1.0 / 3, 1.0 / 3, 1 - 1.0 / 3, 1));
}

TEST(MaxMinTest, AClassCountsAsManyTimesAsItHasFlows) {
  MaxMinProblem problem{.capacities = {12, 4}};
  problem.AddClass({0}, 3);
  problem.AddClass({0, 1}, 2);
  // 12 / 5 exceeds 4 / 2: the pair is limited by link 1.
  EXPECT_THAT(Solve(problem).rates, ElementsAre((12 - 4) / 3.0, 2));
}

TEST(MaxMinTest, LinksWithoutCapacityStopTheirFlows) {
  MaxMinProblem problem{.capacities = {0, 5}};
  problem.AddClass({0, 1}, 2);
  problem.AddClass({1}, 1);
  EXPECT_THAT(Solve(problem).rates, ElementsAre(0, 5));
}

TEST(MaxMinTest, RandomProblemsAreSolvedToTheLetter) {
  MaxMinSolver solver;
  MaxMinRates result;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    const MaxMinProblem problem = RandomMaxMinProblem(seed);
    solver.Solve(problem, &result);
    ExpectMaxMin(problem, result.rates, 1e-12);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace astra
