#include "workload/modules/expert_skew.h"

#include <gtest/gtest.h>

namespace astra {
namespace {

// Each rank has one expert: the busiest has the largest quantile. With exponent
// 0 loads are even between 1 and 9: 2, 4, 6, 8, of mean 5.
TEST(ExpertSkewTest, OneExpertOfEachRankIsAQuantile) {
  EXPECT_NEAR(PowerLawLoad(0, 9, 4, 4), 8. / 5, 1e-12);
}

// Two ranks of two of the loads 2, 4, 6, 8: the busier has 14, 12 or 10 with
// equal chances, of mean 10.
TEST(ExpertSkewTest, ExpertsLieOnRanksByChance) {
  EXPECT_NEAR(PowerLawLoad(0, 9, 4, 2), 1.2, 0.02);
}

TEST(ExpertSkewTest, OneRankOrEqualLoadsAreTheMean) {
  EXPECT_NEAR(PowerLawLoad(1.2, 1000, 256, 1), 1, 1e-12);
  EXPECT_NEAR(PowerLawLoad(1.2, 1, 256, 8), 1, 1e-12);
}

TEST(ExpertSkewTest, MoreRanksFeelTheSkewMore) {
  double before = 1;
  for (const int64_t ranks : {2, 4, 8, 32, 128, 256}) {
    const double load = PowerLawLoad(1.01, 1000, 256, ranks);
    EXPECT_GT(load, before) << ranks;
    before = load;
  }
  EXPECT_EQ(PowerLawLoad(1.01, 1000, 256, 8), PowerLawLoad(1.01, 1000, 256, 8));
}

}  // namespace
}  // namespace astra
