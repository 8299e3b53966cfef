#include "astra-core/serving/capacity_search.h"

#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

ShareAtLoad PassesUpTo(double most) {
  return [most](double load) { return load <= most ? 0.995 : 0.5; };
}

std::vector<double> LoadsOf(const Capacity& capacity) {
  std::vector<double> loads;
  for (const CapacityRun& run : capacity.runs) loads.push_back(run.load);
  return loads;
}

TEST(CapacitySearchTest, BracketsByDoublingAndThenBisectsByRatios) {
  const Capacity capacity =
      ValueOrDie(LargestRate(1, {.precision = 0.5}, PassesUpTo(5)));
  // 8 fails and 4 passes: sqrt(32) = 5.66 fails, and is within 50 % of 4.
  EXPECT_EQ(capacity.runs.size(), 5u);
  EXPECT_EQ(capacity.largest, 4);
  EXPECT_NEAR(capacity.failed, 5.657, 1e-3);
  EXPECT_TRUE(capacity.is_monotone);
  EXPECT_TRUE(capacity.is_precise);
}

TEST(CapacitySearchTest, HalvesUntilSomethingPasses) {
  const Capacity capacity =
      ValueOrDie(LargestRate(16, {.precision = 0.025}, PassesUpTo(3)));
  EXPECT_LE(capacity.largest, 3);
  EXPECT_GT(capacity.failed, 3);
  EXPECT_LE(capacity.failed, capacity.largest * 1.025);
}

TEST(CapacitySearchTest, RunsAreBoundedAndNothingMayPass) {
  const Capacity capacity =
      ValueOrDie(LargestRate(1, {.most_runs = 3}, [](double) { return 0.0; }));
  EXPECT_EQ(LoadsOf(capacity), (std::vector<double>{1, 0.5, 0.25}));
  EXPECT_EQ(capacity.largest, 0);
  EXPECT_FALSE(capacity.is_precise);
}

TEST(CapacitySearchTest, RatesBelowTheLeastCountAsNone) {
  const Capacity capacity = ValueOrDie(
      LargestRate(1, {.least_rate = 0.3}, [](double) { return 0.0; }));
  EXPECT_EQ(LoadsOf(capacity), (std::vector<double>{1, 0.5}));
  EXPECT_EQ(capacity.largest, 0);
}

TEST(CapacitySearchTest, TellsWhereTheBracketIsNotMonotone) {
  // Two rates pass above one that fails.
  const auto share = [](double rate) {
    return rate < 1.5 || (rate > 2.1 && rate < 2.6) ? 1.0 : 0.0;
  };
  EXPECT_TRUE(ValueOrDie(LargestRate(1, {}, share)).is_monotone);
  const Capacity capacity =
      ValueOrDie(LargestRate(2, {.precision = 0.1}, [](double rate) {
        return rate == 1 ? 0.0 : 1.0;
      }));
  EXPECT_FALSE(capacity.is_precise);  // Nothing fails above 2.
}

TEST(CapacitySearchTest, FindsTheFewestReplicas) {
  const auto enough = [](double count) { return count >= 6 ? 1.0 : 0.0; };
  const Capacity capacity = ValueOrDie(LeastCount(2, 64, {}, enough));
  EXPECT_EQ(LoadsOf(capacity), (std::vector<double>{2, 4, 8, 6, 5}));
  EXPECT_EQ(capacity.largest, 6);
  EXPECT_EQ(capacity.failed, 5);
  EXPECT_EQ(ValueOrDie(LeastCount(1, 4, {}, enough)).largest, 0);
}

TEST(CapacitySearchTest, PassesErrorsOn) {
  EXPECT_THAT(LargestRate(1, {},
                          [](double) -> absl::StatusOr<double> {
                            return absl::InternalError("no run");
                          })
                  .status(),
              StatusIs(absl::StatusCode::kInternal, "no run"));
}

}  // namespace
}  // namespace astra
