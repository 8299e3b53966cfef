#include "workload/kernels/expert_load.h"

#include <gtest/gtest.h>

namespace astra {
namespace {

TEST(ExpertLoadTest, EvenLoadsAreMeans) {
  ExpertLoads loads;
  const ExpertLoad load = loads.Find(16, 2, 8, 2, 0);
  EXPECT_EQ(load.rows, 16);
  EXPECT_EQ(load.active, 4);
  EXPECT_EQ(loads.Find(1, 2, 8, 8, 0).rows, 1);
}

TEST(ExpertLoadTest, APowerLawFillsTheBusiestRankAlwaysAlike) {
  ExpertLoads loads;
  const ExpertLoad load = loads.Find(4096, 8, 128, 16, 1.2);
  EXPECT_GT(load.rows, 4096 * 8 / 16);
  EXPECT_LE(load.rows, 4096 * 8);
  EXPECT_LE(load.active, 8);
  ExpertLoads others;
  EXPECT_EQ(others.Find(4096, 8, 128, 16, 1.2).rows, load.rows);
  // One rank has all copies, but for rounding and the most of an expert.
  EXPECT_NEAR(loads.Find(4096, 8, 128, 1, 1.01).rows, 4096 * 8, 0.1 * 4096 * 8);
}

}  // namespace
}  // namespace astra
