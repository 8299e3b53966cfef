#include "astra-core/sweep/expression.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

const SweepVariables& Variables() {
  static const SweepVariables variables = {
      {"tp", "8"},         {"pp", "4"},          {"share", "0.10"},
      {"overlap", "true"}, {"topology", "DCN+"}, {"bandwidth", "400Gbps"},
      {"delay", "500ns"},  {"message", "512K"},  {"zero", "0"},
  };
  return variables;
}

// What a command line gets of the value, or the error.
std::string Result(std::string_view text) {
  const absl::StatusOr<Expression> expression = Expression::Parse(text);
  if (!expression.ok()) return std::string(expression.status().message());
  const absl::StatusOr<SweepValue> value = expression->Evaluate(Variables());
  return value.ok() ? TextOf(*value) : std::string(value.status().message());
}

TEST(ExpressionTest, HasPythonsArithmetic) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"1 + 2 * 3", "7"},
      {"(1 + 2) * 3", "9"},
      {"7 - 2 - 1", "4"},
      {"64 / 4 / 2", "8"},
      {"7 / 2", "3.5"},
      {"-7 // 2", "-4"},
      {"7 // -2", "-4"},
      {"-8 // 2", "-4"},
      {"-7 % 3", "2"},
      {"7 % -3", "-2"},
      {"-6 % 3", "0"},
      {"7.5 // 2", "3.0"},
      {"-7.5 % 2", "0.5"},
      {"1 // 0.1", "9.0"},
      {"5373.96 // 0.3333333333333333", "16121.0"},  // Not 16120.
      {"1.5 * 2", "3.0"},
      {"1e3", "1000.0"},
      {"--3", "3"},
      {"+tp", "8"},
      {"2 * -3", "-6"},
      {"min(3, 2.5, 4)", "2.5"},
      {"max(1, tp, pp)", "8"},
      {"max(bandwidth, \"1Gbps\")", "400Gbps"},
      {"tp*pp", "32"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(Result(text), expected) << text;
  }
}

TEST(ExpressionTest, KeepsWholeNumbersBeyondWhatADoubleHolds) {
  EXPECT_EQ(Result("9007199254740993 * 3 / 3"), "9007199254740993");
  EXPECT_EQ(Result("9007199254740993 == 9007199254740992.0"), "false");
  EXPECT_EQ(Result("9007199254740993 > 9007199254740992.0"), "true");
}

TEST(ExpressionTest, RefusesNumbersBeyond64Bits) {
  EXPECT_EQ(Result("9223372036854775807 + 1"),
            "9223372036854775807 + 1 is too large a number");
  EXPECT_EQ(Result("-9223372036854775807 - 2"),
            "-9223372036854775807 - 2 is too large a number");
  EXPECT_EQ(Result("4294967296 * 4294967296"),
            "4294967296 * 4294967296 is too large a number");
  // The only quotient that is too large, and the remainder beside it.
  EXPECT_EQ(Result("(-9223372036854775807 - 1) // -1"),
            "-9223372036854775808 // -1 is too large a number");
  EXPECT_EQ(Result("(-9223372036854775807 - 1) / -1"),
            "-9223372036854775808 / -1 is too large a number");
  EXPECT_EQ(Result("(-9223372036854775807 - 1) % -1"), "0");
  EXPECT_EQ(Result("-(-9223372036854775807 - 1)"),
            "0 - -9223372036854775808 is too large a number");
  EXPECT_EQ(Result("1e308 * 10"), "1e+308 * 10 is too large a number");
}

TEST(ExpressionTest, RefusesToDivideByZero) {
  EXPECT_EQ(Result("tp / zero"), "division by zero: 8 / 0");
  EXPECT_EQ(Result("tp // 0"), "division by zero: 8 // 0");
  EXPECT_EQ(Result("tp % 0.0"), "division by zero: 8 % 0.0");
}

TEST(ExpressionTest, BindsNotLooserThanComparisonsAndTighterThanAnd) {
  EXPECT_EQ(Result("not tp == 4"), "true");
  EXPECT_EQ(Result("not false and false"), "false");  // Not "not (...)".
  EXPECT_EQ(Result("true or false and false"), "true");
  EXPECT_EQ(Result("(true or false) and false"), "false");
  EXPECT_EQ(Result("not not overlap"), "true");
  EXPECT_EQ(Result("1 + 1 < 3 and 2 * 2 >= 4"), "true");
}

TEST(ExpressionTest, ComparesNumbersTextsAndConditions) {
  EXPECT_EQ(Result("tp == 8.0"), "true");
  EXPECT_EQ(Result("share == 0.1"), "true");
  EXPECT_EQ(Result("topology != \"DCN+\""), "false");
  EXPECT_EQ(Result("topology == 'DCN+'"), "true");
  EXPECT_EQ(Result("overlap == true"), "true");
  for (const std::string_view text :
       {"pp < tp", "pp <= 4", "tp > pp", "tp >= 8", "pp != tp"}) {
    EXPECT_EQ(Result(text), "true") << text;
  }
  for (const std::string_view text :
       {"tp < tp", "tp <= 7", "tp > 8", "tp >= 9", "tp != 8"}) {
    EXPECT_EQ(Result(text), "false") << text;
  }
}

TEST(ExpressionTest, OrdersRatesTimesAndSizesByWhatTheyAre) {
  EXPECT_EQ(Result("bandwidth < \"1.6Tbps\""), "true");
  EXPECT_EQ(Result("bandwidth <= \"0.4Tbps\""), "true");
  EXPECT_EQ(Result("delay < \"0.001ms\""), "true");
  EXPECT_EQ(Result("message < \"8M\""), "true");
  EXPECT_EQ(Result("\"0.5MiB\" <= message"), "true");
  EXPECT_EQ(Result("\"1025K\" > \"1M\""), "true");  // Powers of 1024.
  EXPECT_EQ(Result("bandwidth < delay"),
            "cannot compare \"400Gbps\" with \"500ns\": expected two numbers, "
            "rates, times or sizes");
  EXPECT_EQ(Result("topology < \"DCN\""),
            "cannot compare \"DCN+\" with \"DCN\": expected two numbers, "
            "rates, times or sizes");
}

TEST(ExpressionTest, LooksUpValuesInLists) {
  EXPECT_EQ(Result("tp in (4, 8)"), "true");
  EXPECT_EQ(Result("tp in (4, 2 * 8)"), "false");
  EXPECT_EQ(Result("tp in [8]"), "true");
  EXPECT_EQ(Result("tp in (8,)"), "true");
  EXPECT_EQ(Result("tp not in (4, 8)"), "false");
  EXPECT_EQ(Result("not tp in (4, 6)"), "true");
  EXPECT_EQ(Result("topology in (\"a\", \"DCN+\")"), "true");
}

TEST(ExpressionTest, MixesNoKinds) {
  constexpr std::string_view kKinds =
      ": expected two numbers, two texts, or twice true or false";
  EXPECT_EQ(Result("tp == \"8\""),
            "cannot compare 8 with \"8\"" + std::string(kKinds));
  EXPECT_EQ(Result("tp in (8, \"8\")"),
            "cannot compare 8 with \"8\"" + std::string(kKinds));
  EXPECT_EQ(Result("overlap == 1"),
            "cannot compare true with 1" + std::string(kKinds));
  EXPECT_EQ(Result("overlap < true"),
            "cannot compare true with true: expected two numbers, rates, "
            "times or sizes");
  EXPECT_EQ(Result("topology + 1"), "\"+\" takes two numbers: found \"DCN+\"");
  EXPECT_EQ(Result("2 * overlap"), "\"*\" takes two numbers: found true");
  EXPECT_EQ(Result("-topology"), "a sign takes a number: found \"DCN+\"");
  EXPECT_EQ(Result("+overlap"), "a sign takes a number: found true");
  EXPECT_EQ(Result("tp and overlap"), "\"and\" takes true or false: found 8");
  EXPECT_EQ(Result("false or 1"), "\"or\" takes true or false: found 1");
  EXPECT_EQ(Result("not tp"), "\"not\" takes true or false: found 8");
}

TEST(ExpressionTest, NamesTheNearestVariable) {
  EXPECT_EQ(Result("overlapp and tp == 8"),
            "unknown variable \"overlapp\"; did you mean \"overlap\"? (known: "
            "bandwidth, delay, message, overlap, pp, share, topology, tp, "
            "zero)");
}

TEST(ExpressionTest, ReadsOnTheRightOnlyWhatItNeeds) {
  EXPECT_EQ(Result("zero != 0 and tp / zero > 1"), "false");
  EXPECT_EQ(Result("zero == 0 or absent > 1 or 3"), "true");
  EXPECT_EQ(Result("zero == 0 and tp / zero > 1"), "division by zero: 8 / 0");
  EXPECT_EQ(Result("tp / zero > 1 and false"), "division by zero: 8 / 0");
}

TEST(ExpressionTest, ListsItsVariablesSortedAndOnce) {
  const auto expression =
      ValueOrDie(Expression::Parse("tp in (pp, 2) and min(tp, _a1) < tp"));
  EXPECT_EQ(expression.names(), (std::vector<std::string>{"_a1", "pp", "tp"}));
  EXPECT_EQ(expression.text(), "tp in (pp, 2) and min(tp, _a1) < tp");
}

TEST(ExpressionTest, HoldsOnlyWhatIsTrueOrFalse) {
  const auto product = ValueOrDie(Expression::Parse("tp * pp"));
  EXPECT_THAT(product.Holds(Variables()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "\"tp * pp\" is 32: expected true or false"));
  EXPECT_TRUE(*ValueOrDie(Expression::Parse("tp > pp")).Holds(Variables()));
  EXPECT_FALSE(*ValueOrDie(Expression::Parse("tp < pp")).Holds(Variables()));
}

TEST(ExpressionTest, SaysWhatStandsWhereAndWhatWasExpected) {
  constexpr std::string_view kValue =
      "expected a value, such as a variable, a number or a text in quotes";
  const std::pair<std::string_view, std::string> cases[] = {
      {"", "at character 1 of \"\": found the end, " + std::string(kValue)},
      {"tp *",
       "at character 5 of \"tp *\": found the end, " + std::string(kValue)},
      {"tp * / pp",
       "at character 6 of \"tp * / pp\": found \"/\", " + std::string(kValue)},
      {"tp and and", "at character 8 of \"tp and and\": found \"and\", " +
                         std::string(kValue)},
      {"tp 8",
       "at character 4 of \"tp 8\": found \"8\", expected an operator or the "
       "end"},
      {"tp \"8\"",
       "at character 4 of \"tp \\\"8\\\"\": found \"8\", expected an operator "
       "or the end"},
      {"tp 'a\n'",
       "at character 4 of \"tp 'a\\x0a'\": found \"a\\x0a\", expected an "
       "operator or the end"},
      {"(tp", "at character 4 of \"(tp\": found the end, expected \")\""},
      {"tp)",
       "at character 3 of \"tp)\": found \")\", expected an operator or the "
       "end"},
      {"tp = 8", "at character 4 of \"tp = 8\": found \"=\", expected \"==\""},
      {"tp && pp",
       "at character 4 of \"tp && pp\": found \"&&\", expected \"and\""},
      {"!overlap",
       "at character 1 of \"!overlap\": found \"!\", expected \"not\""},
      {"1 < tp < 8",
       "at character 8 of \"1 < tp < 8\": \"<\" compares what was compared: "
       "write \"A < B and B < C\", or brackets"},
      {"tp in 8",
       "at character 7 of \"tp in 8\": found \"8\", expected a list, such as "
       "(4, 8)"},
      {"tp not 8",
       "at character 8 of \"tp not 8\": found \"8\", expected \"in\""},
      {"tp in (4, 8",
       "at character 12 of \"tp in (4, 8\": found the end, expected \")\""},
      {"8x",
       "at character 1 of \"8x\": found \"8x\", expected a number such as 8 "
       "or 0.25, of at most 64 bits"},
      {"9223372036854775808",
       "at character 1 of \"9223372036854775808\": found "
       "\"9223372036854775808\", expected a number such as 8 or 0.25, of at "
       "most 64 bits"},
      {"'a", "at character 1 of \"'a\": a text that is not closed"},
      {"min(1)",
       "at character 6 of \"min(1)\": found \")\", expected \",\" and a "
       "second value"},
      {"sqrt(2)",
       "at character 1 of \"sqrt(2)\": unknown function \"sqrt\" (known: "
       "min, max)"},
      {"tp ; 1",
       "at character 4 of \"tp ; 1\": found \";\", expected an operator or "
       "the end"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(Expression::Parse(text),
                StatusIs(absl::StatusCode::kInvalidArgument, message))
        << text;
  }
}

TEST(ExpressionTest, TakesNoTextForAWordOrSymbol) {
  EXPECT_EQ(Result("'and' == \"and\""), "true");
  EXPECT_EQ(Result("'(' == \"(\""), "true");
  EXPECT_EQ(Result("\"it's\" == 'it' "), "false");
}

std::string Repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(ExpressionTest, LimitsDepthButNotLength) {
  EXPECT_EQ(Result(Repeated("(", 100) + "tp" + Repeated(")", 100)), "8");
  for (const std::string_view nested : {"(", "-", "not ", "min(1, "}) {
    const std::string text = Repeated(nested, 101) + "tp";
    EXPECT_THAT(Result(text), ::testing::EndsWith("nested more than 100 deep"))
        << nested;
  }
  EXPECT_EQ(Result(Repeated("+1", 2048)), "2048");
  EXPECT_EQ(Result(Repeated("+1", 2048) + " "),
            "\"+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1"
            "...\" has 4097 characters: expected at most 4096");
}

TEST(IsVariableNameTest, TakesNoWordOfTheLanguage) {
  for (const std::string_view name : {"tp", "_", "a1_B", "In", "minimum"}) {
    EXPECT_TRUE(IsVariableName(name)) << name;
  }
  for (const std::string_view name :
       {"", "1a", "a-b", "a b", "in", "and", "or", "not", "true", "false",
        "min", "max", "\xc3\xa4"}) {
    EXPECT_FALSE(IsVariableName(name)) << name;
  }
}

}  // namespace
}  // namespace astra
