#include "network-frontends/traffic/flow_sizes.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;

// Half of the messages have 0 to 1000 bytes, a quarter has exactly 1000, and
// the last quarter has up to 5000.
constexpr std::string_view kFile =
    "# bytes percent\n"
    "0 0\n"
    "\n"
    "1000 50\n"
    "1000 75\n"
    "5000 100\n";

TEST(FlowSizesTest, AQuantileLiesOnTheLineBetweenTwoSizes) {
  const FlowSizes sizes = ValueOrDie(FlowSizes::Parse("web.txt", kFile));
  EXPECT_EQ(sizes.Quantile(0), Bytes(1));  // A message has a byte.
  EXPECT_EQ(sizes.Quantile(0.25), Bytes(500));
  EXPECT_EQ(sizes.Quantile(0.5), Bytes(1000));
  EXPECT_EQ(sizes.Quantile(0.6), Bytes(1000));
  EXPECT_EQ(sizes.Quantile(0.75), Bytes(1000));
  EXPECT_EQ(sizes.Quantile(0.875), Bytes(3000));
  EXPECT_EQ(sizes.Quantile(1), Bytes(5000));
}

TEST(FlowSizesTest, TheMeanIsThatOfTheLines) {
  const FlowSizes sizes = ValueOrDie(FlowSizes::Parse("web.txt", kFile));
  EXPECT_DOUBLE_EQ(sizes.mean_bytes(), 0.5 * 500 + 0.25 * 1000 + 0.25 * 3000);
}

TEST(FlowSizesTest, OneSizeIsADistribution) {
  const FlowSizes sizes = FlowSizes::All(Bytes(77));
  EXPECT_EQ(sizes.Quantile(0), Bytes(77));
  EXPECT_EQ(sizes.Quantile(0.99), Bytes(77));
  EXPECT_DOUBLE_EQ(sizes.mean_bytes(), 77);
}

}  // namespace
}  // namespace astra
