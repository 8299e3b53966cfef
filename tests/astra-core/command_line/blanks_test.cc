#include "astra-core/command_line/blanks.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace astra {
namespace {

using ::testing::ElementsAre;

TEST(BlanksTest, TakesBlanksOfAnyScriptOffBothEnds) {
  EXPECT_EQ(WithoutBlanks("\u3000-g\u3000"), "-g");
  EXPECT_EQ(WithoutBlanks(" \t\u00a0\u2003\ufeff8\r\n"), "8");
  EXPECT_EQ(WithoutBlanks("a\u3000b c"), "a\u3000b c");
  EXPECT_EQ(WithoutBlanks("\u3001"), "\u3001");  // A comma, no blank.
  EXPECT_EQ(WithoutBlanks(""), "");
}

TEST(BlanksTest, LeavesOutWordsOfBlanksOnly) {
  const char* argv[] = {"program", "-g\u3000", "\u3000", "", "8"};
  EXPECT_THAT(WordsOf(5, argv), ElementsAre("-g", "", "8"));
  EXPECT_THAT(WordsOf(0, argv), ElementsAre());
}

}  // namespace
}  // namespace astra
