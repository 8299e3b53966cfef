#include "topology/discovered/natural_order.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace astra::testing {
namespace {

TEST(NaturalOrderTest, NumbersCountByTheirValue) {
  const std::vector<std::string> sorted = {
      "gpu",      "node1",  "node01",
      "node2",    "node2a", "node2a9",
      "node2a10", "node10", "node18446744073709551617",
      "nodes"};
  std::vector<std::string> names(sorted.rbegin(), sorted.rend());
  std::sort(names.begin(), names.end(), IsNaturallyLess);
  // "node01" is less than "node1" as text.
  std::vector<std::string> expected = sorted;
  std::swap(expected[1], expected[2]);
  EXPECT_EQ(names, expected);
}

}  // namespace
}  // namespace astra::testing
