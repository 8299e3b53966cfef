#include "astra-core/sweep/text_pattern.h"

#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

const SweepVariables& Variables() {
  static const SweepVariables variables = {
      {"tp", "8"},         {"pp", "4"},          {"share", "0.10"},
      {"overlap", "true"}, {"topology", "DCN+"}, {"zero", "0"},
  };
  return variables;
}

// What the text stands for, or the error.
std::string Filled(std::string_view text) {
  const absl::StatusOr<TextPattern> pattern = TextPattern::Parse(text);
  if (!pattern.ok()) return std::string(pattern.status().message());
  const absl::StatusOr<std::string> filled = pattern->Fill(Variables());
  return filled.ok() ? *filled : std::string(filled.status().message());
}

TEST(TextPatternTest, FillsInValuesAndKeepsTheRest) {
  EXPECT_EQ(Filled(""), "");
  EXPECT_EQ(Filled("fat_tree.txt"), "fat_tree.txt");
  EXPECT_EQ(Filled("${tp * pp}"), "32");
  EXPECT_EQ(Filled("a${tp}b${pp}${tp}"), "a8b48");
  EXPECT_EQ(Filled("$$${topology}$$${\"}\"}'${'}'}'$$"), "$DCN+$}'}'$");
  EXPECT_EQ(Filled("{tp}"), "{tp}");
  EXPECT_EQ(Filled("${overlap and tp > pp}"), "true");
}

TEST(TextPatternTest, SpellsALoneVariableAsTheFileDoes) {
  EXPECT_EQ(Filled("${share}"), "0.10");
  EXPECT_EQ(Filled("x${ share }"), "x0.10");
  EXPECT_EQ(Filled("${share * 1}"), "0.1");
}

TEST(TextPatternTest, SaysWhereTheTextIsWrong) {
  EXPECT_EQ(Filled("a${tp"),
            "at character 2 of \"a${tp\": \"${\" without a \"}\" that closes "
            "it");
  EXPECT_EQ(Filled("${\"}"),
            "at character 1 of \"${\\\"}\": \"${\" without a \"}\" that "
            "closes it");
  EXPECT_EQ(Filled("5$"),
            "at character 2 of \"5$\": \"$\" alone: expected \"${\", or "
            "\"$$\" for a dollar");
  EXPECT_EQ(Filled("${}"),
            "at character 1 of \"\": found the end, expected a value, such "
            "as a variable, a number or a text in quotes");
  EXPECT_EQ(Filled("${tp / zero}"), "division by zero: 8 / 0");
}

TEST(TextPatternTest, LimitsWhatItMakes) {
  const std::string long_text(4096, 'x');
  EXPECT_EQ(Filled(long_text), long_text);
  EXPECT_THAT(
      Filled(long_text + "x"),
      ::testing::EndsWith("...\" has 4097 characters: expected at most 4096"));
  EXPECT_THAT(Filled(long_text.substr(0, 4090) + "${tp}"),
              ::testing::EndsWith("x8"));
  // Shorter as it is spelt than as it is filled.
  const auto pattern = ValueOrDie(TextPattern::Parse("${a}${a}"));
  EXPECT_TRUE(pattern.Fill({{"a", long_text.substr(0, 2048)}}).ok());
  EXPECT_THAT(pattern.Fill({{"a", long_text.substr(0, 2049)}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::HasSubstr("has over 4096 characters")));
}

TEST(TextPatternTest, ListsItsVariablesSortedAndOnce) {
  const auto pattern = ValueOrDie(TextPattern::Parse("${tp}${pp + tp}$$"));
  EXPECT_EQ(pattern.names(), (std::vector<std::string>{"pp", "tp"}));
}

TEST(ParseBareExpressionTest, TakesAnExpressionWithBracesOrWithout) {
  for (const std::string_view text :
       {"tp * pp", "${tp * pp}", " ${tp * pp} "}) {
    EXPECT_EQ(ValueOrDie(ParseBareExpression(text)).Evaluate(Variables()),
              absl::StatusOr<SweepValue>(SweepValue(int64_t{32})))
        << text;
  }
  EXPECT_FALSE(ParseBareExpression("${tp} * pp").ok());
  EXPECT_FALSE(ParseBareExpression("${").ok());
}

}  // namespace
}  // namespace astra
