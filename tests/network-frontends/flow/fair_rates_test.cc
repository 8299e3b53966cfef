#include "network-frontends/flow/fair_rates.h"

#include <cstdint>
#include <vector>

#include "astra-core/base/random.h"
#include "tests/network-frontends/flow/max_min_certificate.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ExpectMaxMin;
using ::astra::testing::RandomPath;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint32_t> Solve(FairRates& rates) {
  std::vector<uint32_t> changed;
  rates.Solve(&changed);
  return changed;
}

TEST(FairRatesTest, FlowsShareAndTakeBackWhatOthersLeave) {
  FairRates rates({12, 12});
  const uint32_t a = rates.AddClass({0});
  const uint32_t b = rates.AddClass({0, 1});
  EXPECT_THAT(Solve(rates), IsEmpty());
  rates.AddFlows(a, 1);
  EXPECT_THAT(Solve(rates), ElementsAre(a));
  EXPECT_EQ(rates.rate(a), 12);
  rates.AddFlows(b, 2);
  EXPECT_FALSE(rates.is_solved());
  EXPECT_THAT(Solve(rates), ElementsAre(b, a));
  EXPECT_TRUE(rates.is_solved());
  EXPECT_EQ(rates.rate(a), 4);
  EXPECT_EQ(rates.rate(b), 4);
  rates.AddFlows(a, -1);
  EXPECT_THAT(Solve(rates), ElementsAre(b));
  EXPECT_EQ(rates.rate(a), 0);
  EXPECT_EQ(rates.rate(b), 6);
}

TEST(FairRatesTest, ManyChangesOfOneClassAreSolvedOnce) {
  FairRates rates({12});
  const uint32_t a = rates.AddClass({0});
  for (int i = 0; i < 1000; ++i) rates.AddFlows(a, 1);
  for (int i = 0; i < 988; ++i) rates.AddFlows(a, -1);
  EXPECT_THAT(Solve(rates), ElementsAre(a));
  EXPECT_EQ(rates.rate(a), 1);
  EXPECT_EQ(rates.num_solved_classes(), 1u);
}

// One flow on each of 1000 links: they have nothing to do with one another.
TEST(FairRatesTest, WhatSharesNothingIsNotSolvedAgain) {
  FairRates rates(std::vector<double>(1000, 5));
  for (uint32_t i = 0; i < 1000; ++i) rates.AddFlows(rates.AddClass({i}), 1);
  Solve(rates);
  EXPECT_EQ(rates.num_solved_classes(), 1000u);
  rates.AddFlows(500, 1);
  EXPECT_THAT(Solve(rates), ElementsAre(500));
  EXPECT_EQ(rates.num_solved_classes(), 1001u);
}

// Two flows that link 0 holds at 1 pass link 1, too, where others share the
// rest. How many those are changes nothing for them.
TEST(FairRatesTest, AChangeDoesNotReachThoseThatAreSlowerAnyway) {
  FairRates rates({2, 10});
  const uint32_t slow = rates.AddClass({0, 1});
  const uint32_t fast = rates.AddClass({1});
  const uint32_t other = rates.AddClass({1});
  rates.AddFlows(slow, 2);
  rates.AddFlows(fast, 1);
  Solve(rates);
  EXPECT_EQ(rates.rate(slow), 1);
  EXPECT_EQ(rates.rate(fast), 8);
  const uint64_t before = rates.num_solved_classes();
  rates.AddFlows(other, 1);
  EXPECT_THAT(Solve(rates), ElementsAre(other, fast));
  EXPECT_EQ(rates.rate(other), 4);
  EXPECT_EQ(rates.num_solved_classes() - before, 1u + 2u);  // In two rounds.
}

// Flows of 40 classes on up to 16 links of few different rates.
class RandomFlows {
 public:
  explicit RandomFlows(uint64_t seed) : seed_(seed), rates_(Capacities(seed)) {
    const auto num_links = static_cast<uint32_t>(Capacities(seed).size());
    for (uint64_t i = 0; i < kNumClasses; ++i) {
      paths_.push_back(RandomPath(HashOf(seed, 3, i), num_links));
      rates_.AddClass(paths_.back());
    }
  }

  // Classes come, grow, shrink and go, up to four at one instant.
  void Change(uint64_t step) {
    for (uint64_t k = 0; k <= HashOf(seed_, 4, step) % 4; ++k) {
      const auto c =
          static_cast<uint32_t>(HashOf(seed_, 5, step, k) % kNumClasses);
      const auto count = static_cast<int64_t>(HashOf(seed_, 6, step, k) % 4);
      rates_.AddFlows(c, count - counts_[c]);
      counts_[c] = count;
    }
    for (const uint32_t c : Solve(rates_)) told_[c] = rates_.rate(c);
  }

  // Against a solution from scratch, the definition, and what was told.
  void ExpectRight() {
    MaxMinProblem problem{.capacities = Capacities(seed_)};
    std::vector<double> actual;
    for (uint32_t c = 0; c < kNumClasses; ++c) {
      if (counts_[c] == 0) told_[c] = 0;
      EXPECT_EQ(rates_.rate(c), told_[c]);
      if (counts_[c] == 0) continue;
      problem.AddClass(paths_[c], counts_[c]);
      actual.push_back(rates_.rate(c));
    }
    MaxMinSolver solver;
    MaxMinRates expected;
    solver.Solve(problem, &expected);
    ExpectMaxMin(problem, actual, 1e-8);
    for (size_t i = 0; i < actual.size(); ++i) {
      EXPECT_NEAR(actual[i], expected.rates[i], 1e-8 * expected.rates[i]);
    }
  }

 private:
  static constexpr uint32_t kNumClasses = 40;

  static std::vector<double> Capacities(uint64_t seed) {
    std::vector<double> capacities(2 + HashOf(seed, 1) % 15);
    for (size_t i = 0; i < capacities.size(); ++i) {
      capacities[i] = static_cast<double>(100 * (1 + HashOf(seed, 2, i) % 3));
    }
    return capacities;
  }

  uint64_t seed_;
  FairRates rates_;
  std::vector<std::vector<uint32_t>> paths_;
  std::vector<int64_t> counts_ = std::vector<int64_t>(kNumClasses);
  std::vector<double> told_ = std::vector<double>(kNumClasses);
};

TEST(FairRatesTest, AreThoseOfSolvingForEverythingAnew) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    RandomFlows flows(seed);
    for (uint64_t step = 0; step < 200; ++step) {
      SCOPED_TRACE(fmt::format("seed {}, step {}", seed, step));
      flows.Change(step);
      flows.ExpectRight();
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace astra
