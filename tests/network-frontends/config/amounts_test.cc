#include "network-frontends/config/amounts.h"

#include <string_view>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

constexpr std::string_view kExpected =
    " is not a size: expected a whole number and a unit of B, kB, MB, GB, KiB, "
    "MiB or GiB, such as 64MiB";

TEST(AmountsTest, ASizeIsAWholeNumberAndItsUnit) {
  EXPECT_EQ(ValueOrDie(ParseSize("0B")), Bytes(0));
  EXPECT_EQ(ValueOrDie(ParseSize("800kB")), Bytes(800'000));
  EXPECT_EQ(ValueOrDie(ParseSize("64MiB")), MiB(64));
  for (const std::string_view text :
       {"", "64", "MiB", "1.5KiB", "-1B", "64 MiB", "64mib", "9007199255GB"}) {
    EXPECT_THAT(ParseSize(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         fmt::format("\"{}\"{}", text, kExpected)));
  }
}

TEST(AmountsTest, TextIsInTheLargestUnitThatFits) {
  EXPECT_EQ(SizeText(Bytes(0)), "0B");
  EXPECT_EQ(SizeText(Bytes(4096)), "4KiB");
  EXPECT_EQ(SizeText(Bytes(800'000)), "800kB");
  EXPECT_EQ(SizeText(Bytes(82)), "82B");
  EXPECT_EQ(TimeText(TimePs(0)), "0ps");
  EXPECT_EQ(TimeText(Microseconds(5'000)), "5ms");
  EXPECT_EQ(TimeText(TimePs(1'500)), "1500ps");
  EXPECT_EQ(RateText(Gbps(400)), "400Gbps");
  EXPECT_EQ(RateText(Mbps(1'500)), "1500Mbps");
}

}  // namespace
}  // namespace astra
