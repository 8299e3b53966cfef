#include "astra-core/apps/testbed/lateness.h"

#include "gtest/gtest.h"

namespace astra {
namespace {

TEST(LatenessTest, HasQuantilesByNearestRank) {
  Lateness lateness;
  EXPECT_EQ(lateness.QuantileUs(0.5), 0);
  for (int i = 0; i < 98; ++i) lateness.Add(Nanoseconds(3'900));
  lateness.Add(Microseconds(70));
  lateness.Add(Microseconds(1'000'000));
  EXPECT_EQ(lateness.QuantileUs(0.5), 3);
  EXPECT_EQ(lateness.QuantileUs(0.98), 3);
  EXPECT_EQ(lateness.QuantileUs(0.99), 70);
  EXPECT_EQ(lateness.QuantileUs(1), 99'999);  // The largest told apart.
}

}  // namespace
}  // namespace astra
