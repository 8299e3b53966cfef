// The median of times.

#include "astra-core/base/median.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace astra::testing {
namespace {

TEST(MedianTest, IsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  const auto median = [](const std::vector<int64_t>& counts) {
    std::vector<TimePs> times;
    for (const int64_t count : counts) times.emplace_back(count);
    return MedianOf(times).count();
  };
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({1, 2, 100}), 2);
  EXPECT_EQ(median({1, 2, 6, 100}), 4);
  EXPECT_EQ(median({2, 5}), 3);
}

}  // namespace
}  // namespace astra::testing
