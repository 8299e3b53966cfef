#include "astra-core/base/parse.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

constexpr int64_t kMaxInt = std::numeric_limits<int64_t>::max();

// Matches InvalidArgument with this message.
auto Says(std::string_view message) {
  return StatusIs(absl::StatusCode::kInvalidArgument, std::string(message));
}

TEST(ParseIntegerTest, TakesBothEndsOfTheRange) {
  EXPECT_EQ(ValueOrDie(ParseInteger("n", "0")), 0);
  EXPECT_EQ(ValueOrDie(ParseInteger("n", "9223372036854775807")), kMaxInt);
  EXPECT_EQ(ValueOrDie(ParseInteger("n", "-3", -3, 5)), -3);
  EXPECT_EQ(ValueOrDie(ParseInteger("n", "007", 0, 7)), 7);
}

TEST(ParseIntegerTest, SaysTheRangeBehindItsEnds) {
  EXPECT_THAT(ParseInteger("the size", "-1"),
              Says("the size is \"-1\": expected a whole number of at least "
                   "0"));
  EXPECT_THAT(ParseInteger("the size", "8", 1, 7),
              Says("the size is \"8\": expected a whole number from 1 to 7"));
  EXPECT_THAT(ParseInteger("the size", "9223372036854775808"),
              Says("the size is \"9223372036854775808\": expected a whole "
                   "number of at least 0"));
}

TEST(ParseIntegerTest, TakesNothingButDigits) {
  for (const std::string_view text : {"", " 1", "1 ", "+1", "1.0", "1e3", "0x1",
                                      "1,000", "one", "-", "1GB"}) {
    EXPECT_FALSE(ParseInteger("n", text).ok()) << text;
  }
}

TEST(ParseNumberTest, ReadsDecimalsAndExponents) {
  EXPECT_EQ(ValueOrDie(ParseNumber("p", "48.5")), 48.5);
  EXPECT_EQ(ValueOrDie(ParseNumber("p", "1e-3")), 0.001);
  EXPECT_EQ(ValueOrDie(ParseNumber("p", "1", 0, 1)), 1);
}

TEST(ParseNumberTest, SaysTheRange) {
  EXPECT_THAT(ParseNumber("p", "1.5", 0, 1),
              Says("p is \"1.5\": expected a number from 0 to 1"));
  EXPECT_THAT(ParseNumber("p", "-0.5"),
              Says("p is \"-0.5\": expected a number of at least 0"));
}

TEST(ParseNumberTest, TakesNoWordsThatFloatsKnow) {
  for (const std::string_view text :
       {"", "nan", "inf", "-inf", "1e999", "0x10", "1.5x", "+1", " 1"}) {
    EXPECT_FALSE(ParseNumber("p", text).ok()) << text;
  }
}

TEST(ParseBandwidthTest, KnowsTheUnitsOfNs3) {
  // Prefixes without an i are powers of 1000, those with one of 1024; B is 8 b.
  const std::pair<std::string_view, int64_t> rates[] = {
      {"7bps", 7},
      {"7b/s", 7},
      {"7Bps", 56},
      {"7B/s", 56},
      {"7kbps", 7'000},
      {"7Kbps", 7'000},
      {"7Mbps", 7'000'000},
      {"400Gbps", 400'000'000'000},
      {"400Gb/s", 400'000'000'000},
      {"50GBps", 400'000'000'000},
      {"1.8TB/s", 14'400'000'000'000},
      {"1Kibps", 1'024},
      {"1Mibps", 1'048'576},
      {"1Gib/s", 1'073'741'824},
      {"1TiB/s", 8'796'093'022'208},
  };
  for (const auto& [text, rate] : rates) {
    EXPECT_EQ(ValueOrDie(ParseBandwidth(text)), Bandwidth(rate)) << text;
  }
}

TEST(ParseBandwidthTest, RequiresAUnitItKnows) {
  for (const std::string_view text :
       {"", "400", "Gbps", ".Gbps", "400 Gbps", "400gbps", "400GBPS", "400G",
        "-400Gbps", "+400Gbps", "4e2Gbps", "4.0.0Gbps", "400Gbps ", "400Pbps",
        "400Kib", "1,6Tbps", "1234567890123456789bps"}) {
    EXPECT_THAT(ParseBandwidth(text),
                Says(fmt::format("\"{}\" is not a rate: expected a number and "
                                 "a unit, such as 400Gbps",
                                 text)));
  }
}

TEST(ParseBandwidthTest, IsWholeAndAboveZeroAndFits) {
  EXPECT_EQ(ValueOrDie(ParseBandwidth("0.5kbps")), Bandwidth(500));
  for (const std::string_view text :
       {"0Gbps", "0.0bps", "0.5bps", "0.0001kbps", "9223373Tbps"}) {
    EXPECT_THAT(ParseBandwidth(text),
                Says(fmt::format("\"{}\" is not a rate: expected a whole "
                                 "number of bits per second above zero, below "
                                 "2^63",
                                 text)));
  }
}

TEST(ParseTimeTest, IsExactInEveryUnit) {
  const std::pair<std::string_view, int64_t> times[] = {
      {"0s", 0},
      {"1s", 1'000'000'000'000},
      {"1ms", 1'000'000'000},
      {"1us", 1'000'000},
      {"1ns", 1'000},
      {"1ps", 1},
      {"0.000025ms", 25'000},
      {"0.0005ms", 500'000},
      {"0.1us", 100'000},  // No double is a tenth.
      {"9223372s", 9'223'372'000'000'000'000},
  };
  for (const auto& [text, time] : times) {
    EXPECT_EQ(ValueOrDie(ParseTime(text)), TimePs(time)) << text;
  }
}

TEST(ParseTimeTest, RequiresAUnitItKnows) {
  for (const std::string_view text :
       {"", "500", "ns", "-1ns", "1 ns", "1Ns", "1m", "1fs", "1e3ns", "1ns2"}) {
    EXPECT_THAT(ParseTime(text),
                Says(fmt::format("\"{}\" is not a time: expected a number and "
                                 "a unit of s, ms, us, ns or ps, such as 500ns",
                                 text)));
  }
}

TEST(ParseTimeTest, RefusesWhatPicosecondsCannotHold) {
  for (const std::string_view text : {"0.5ps", "0.0001ns", "9223373s"}) {
    EXPECT_THAT(ParseTime(text),
                Says(fmt::format("\"{}\" is not a time: expected a whole "
                                 "number of picoseconds, below 2^63",
                                 text)));
  }
}

}  // namespace
}  // namespace astra
