#include "astra-core/sweep/sweep_value.h"

#include <limits>
#include <string>
#include <string_view>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

TEST(ValueOfTest, TellsKindsBySpelling) {
  EXPECT_EQ(ValueOf("true"), SweepValue(true));
  EXPECT_EQ(ValueOf("-8"), SweepValue(int64_t{-8}));
  EXPECT_EQ(ValueOf("0.25"), SweepValue(0.25));
  EXPECT_EQ(ValueOf(".5"), SweepValue(0.5));
  EXPECT_EQ(ValueOf("1e3"), SweepValue(1000.0));
  EXPECT_EQ(ValueOf("-9223372036854775808"),
            SweepValue(std::numeric_limits<int64_t>::min()));
  for (const std::string_view text :
       {"", "-", ".", "True", "8 ", "+8", "0x10", "inf", "-nan", "1e999",
        "400Gbps", "9223372036854775808"}) {
    EXPECT_EQ(ValueOf(text), SweepValue(std::string(text))) << text;
  }
}

TEST(TextOfTest, IsReadBackAsTheSame) {
  for (const double number : {2.0, -0.0, 0.1, 1e-300, 1e15, 1e16, 1.0 / 3}) {
    EXPECT_EQ(ValueOf(TextOf(number)), SweepValue(number)) << TextOf(number);
  }
  EXPECT_EQ(TextOf(2.0), "2.0");
  EXPECT_EQ(TextOf(int64_t{2}), "2");
  EXPECT_EQ(TextOf(false), "false");
  EXPECT_EQ(TextOf(std::string("a b")), "a b");
}

TEST(DescribeValueTest, PutsTextsInQuotes) {
  EXPECT_EQ(DescribeValue(std::string("a\nb")), "\"a\\x0ab\"");
  EXPECT_EQ(DescribeValue(int64_t{8}), "8");
}

}  // namespace
}  // namespace astra
