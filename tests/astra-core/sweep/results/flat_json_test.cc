#include "astra-core/sweep/results/flat_json.h"

#include <string>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(FlatJsonTest, HasNumbersAndTextsInTheirOrder) {
  FlatJson json;
  ASSERT_TRUE(json.Read(
      R"({"b": 0.1, "t\"\u0041": "x", "a": -3, "n": null, "c": 7, "s": ""})"));
  ASSERT_EQ(json.numbers.size(), 3);
  EXPECT_EQ(json.numbers[0].name, "b");
  EXPECT_EQ(json.numbers[0].value, 0.1);
  EXPECT_EQ(json.numbers[1].name, "a");
  EXPECT_EQ(json.numbers[1].value, -3);
  EXPECT_EQ(json.numbers[2].name, "c");
  EXPECT_EQ(json.numbers[2].value, 7);
  EXPECT_THAT(json.texts, ElementsAre(Pair("t\"A", "x"), Pair("s", "")));

  ASSERT_TRUE(json.Read(R"(["p", "q"])"));
  EXPECT_THAT(json.numbers, IsEmpty());
  EXPECT_THAT(json.texts, ElementsAre(Pair("", "p"), Pair("", "q")));
  EXPECT_THAT(json.Texts(), ElementsAre("p", "q"));
  ASSERT_TRUE(json.Read("{}"));
  EXPECT_THAT(json.Texts(), IsEmpty());
}

// The store writes without spaces, which is read in another way.
TEST(FlatJsonTest, HasTheSameWithAndWithoutSpaces) {
  FlatJson json;
  FlatJson other;
  ASSERT_TRUE(json.Read(R"({"more":1,"than":2,"the":3,"others":4})"));
  ASSERT_TRUE(other.Read(R"({"more": 1, "than": 2, "the": 3, "others": 4})"));
  for (const std::string number :
       {"0", "-0.5", "10", "8094.014984701", "1e5", "1.5E+05", "-2e-300"}) {
    ASSERT_TRUE(json.Read(fmt::format(R"({{"a b":{},"":7}})", number)));
    ASSERT_TRUE(other.Read(fmt::format(R"({{ "a b" : {}, "" : 7 }})", number)));
    ASSERT_EQ(json.numbers.size(), 2) << number;
    ASSERT_EQ(other.numbers.size(), 2) << number;
    EXPECT_EQ(json.numbers[0].name, "a b");
    EXPECT_EQ(json.numbers[0].value, other.numbers[0].value) << number;
    EXPECT_EQ(json.numbers[1].name, "");
    EXPECT_EQ(json.numbers[1].value, 7);
  }
  EXPECT_EQ(json.numbers[0].value, -2e-300);
}

TEST(FlatJsonTest, RefusesWhatIsNotFlat) {
  FlatJson json;
  for (const std::string text : {"",
                                 "3",
                                 "\"a\"",
                                 "null",
                                 "{\"a\": {}}",
                                 "[[]]",
                                 "[true]",
                                 "[1] 2",
                                 "{\"a\": 1",
                                 "{\"a\":1",
                                 "{\"a\":1}}",
                                 "{\"a\":1,}",
                                 "{\"a\":01}",
                                 "{\"a\":1.}",
                                 "{\"a\":.5}",
                                 "{\"a\":-}",
                                 "{\"a\":1e}",
                                 "{\"a\":+1}",
                                 "{\"a\":inf}",
                                 "{\"a\" :1e999}",
                                 "{\"a\":1e999}",
                                 "{\"a\n\":1}",
                                 "{a:1}",
                                 "[\"\xff\"]",
                                 "{\"\xff\":1}"}) {
    EXPECT_FALSE(json.Read(text)) << text;
  }
}

TEST(ReadTextListsTest, ReadsObjectsOfArraysOfTexts) {
  std::vector<std::vector<std::string>> lists = {{"old"}};
  EXPECT_TRUE(ReadTextLists(R"({"b": ["2", "1"], "a": []})", &lists));
  EXPECT_THAT(lists, ElementsAre(ElementsAre("2", "1"), ElementsAre()));
  for (const std::string text :
       {"", "[]", "{", R"({"a": "b"})", R"({"a": [1]})", R"({"a": [[]]})"}) {
    EXPECT_FALSE(ReadTextLists(text, &lists)) << text;
  }
}

}  // namespace
}  // namespace astra
