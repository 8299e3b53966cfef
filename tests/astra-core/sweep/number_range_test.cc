#include "astra-core/sweep/number_range.h"

#include <string>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using Texts = std::vector<std::string>;

Texts ByStep(std::string_view from, std::string_view to,
             std::string_view step) {
  return ValueOrDie(NumbersByStep(from, to, step, 100));
}

Texts ByFactor(std::string_view from, std::string_view to,
               std::string_view factor) {
  return ValueOrDie(NumbersByFactor(from, to, factor, 100));
}

TEST(NumbersByStepTest, IsExactAndHoldsTheLastWhereItIsHit) {
  EXPECT_EQ(ByStep("0.1", "0.5", "0.1"),
            (Texts{"0.1", "0.2", "0.3", "0.4", "0.5"}));
  EXPECT_EQ(ByStep("1", "8", "3"), (Texts{"1", "4", "7"}));
  EXPECT_EQ(ByStep("4", "-4", "-4"), (Texts{"4", "0", "-4"}));
  EXPECT_EQ(ByStep("-0.5", "1", "0.75"), (Texts{"-0.5", "0.25", "1"}));
  EXPECT_EQ(ByStep("3", "3", "1"), Texts{"3"});
  EXPECT_EQ(ByStep("3", "3", "-1"), Texts{"3"});
  EXPECT_EQ(ByStep("1.50", "2.00", ".5"), (Texts{"1.5", "2"}));
}

TEST(NumbersByStepTest, RefusesStepsThatLeadNowhere) {
  EXPECT_THAT(NumbersByStep("1", "8", "-1", 100),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "no step of -1 leads from 1 to 8"));
  EXPECT_FALSE(NumbersByStep("8", "1", "1", 100).ok());
  EXPECT_FALSE(NumbersByStep("1", "8", "0", 100).ok());
  EXPECT_FALSE(NumbersByStep("1", "1", "0.0", 100).ok());
}

TEST(NumbersByFactorTest, IsExactAndHoldsTheLastWhereItIsHit) {
  EXPECT_EQ(ByFactor("1", "8", "2"), (Texts{"1", "2", "4", "8"}));
  EXPECT_EQ(ByFactor("1", "7.9", "2"), (Texts{"1", "2", "4"}));
  EXPECT_EQ(ByFactor("4", "13.5", "1.5"), (Texts{"4", "6", "9", "13.5"}));
  EXPECT_EQ(ByFactor("8", "1.5", "0.5"), (Texts{"8", "4", "2"}));
  EXPECT_EQ(ByFactor("3", "3", "2"), Texts{"3"});
  // Had it kept zeros, 1 would have 20 decimals.
  EXPECT_EQ(ByFactor("1048576", "1", "0.5").back(), "1");
  // What follows is beyond 18 digits, and beyond the last.
  EXPECT_EQ(ByFactor("999999999999999999", "999999999999999999", "10"),
            Texts{"999999999999999999"});
}

TEST(NumbersByFactorTest, RefusesFactorsThatLeadNowhere) {
  EXPECT_THAT(NumbersByFactor("8", "1", "2", 100),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "no factor of 2 leads from 8 to 1"));
  const std::vector<Texts> cases = {
      {"1", "8", "1"},  {"1", "8", "0.5"}, {"0", "8", "2"}, {"-1", "8", "2"},
      {"1", "8", "-2"}, {"1", "0", "0.5"}, {"1", "1", "1"}};
  for (const Texts& range : cases) {
    EXPECT_FALSE(NumbersByFactor(range[0], range[1], range[2], 100).ok())
        << range[0] << " " << range[1] << " " << range[2];
  }
}

TEST(NumbersByStepTest, TakesDecimalNumbersOf18Digits) {
  for (const std::string_view text : {"1e3", "", "-", ".", "1.2.3", "+1", "1 ",
                                      "0x1", "--1", "1234567890123456789"}) {
    EXPECT_FALSE(NumbersByStep(text, "8", "1", 100).ok()) << text;
  }
  EXPECT_THAT(NumbersByStep("1", "1e3", "1", 100),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "to is \"1e3\": expected a number such as 8 or 0.25, "
                       "of at most 18 digits"));
  EXPECT_EQ(ByStep("123456789012345678", "123456789012345679", "1"),
            (Texts{"123456789012345678", "123456789012345679"}));
}

TEST(NumbersByStepTest, LimitsDigitsAndCount) {
  EXPECT_THAT(
      NumbersByStep("999999999999999999", "999999999999999999", "0.1", 100),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "its values need more than 18 digits"));
  EXPECT_THAT(NumbersByFactor("1", "2", "1.0000001", 100),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "its values need more than 18 digits"));
  EXPECT_TRUE(NumbersByStep("1", "100", "1", 100).ok());
  EXPECT_THAT(
      NumbersByStep("1", "101", "1", 100),
      StatusIs(absl::StatusCode::kInvalidArgument, "more than 100 values"));
  EXPECT_TRUE(NumbersByFactor("1", "4", "2", 3).ok());
  EXPECT_THAT(
      NumbersByFactor("1", "8", "2", 3),
      StatusIs(absl::StatusCode::kInvalidArgument, "more than 3 values"));
}

}  // namespace
}  // namespace astra
