#include "astra-core/base/text_reader.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The tokens of all lines as "line:column:text"; "line" alone for no token.
std::vector<std::string> AllTokens(std::string_view contents) {
  TextReader reader("file", contents);
  std::vector<std::string> all;
  while (reader.NextLine()) {
    if (reader.tokens().empty())
      all.push_back(fmt::format("{}", reader.line()));
    for (const Token& token : reader.tokens()) {
      EXPECT_EQ(token.line, reader.line());
      all.push_back(
          fmt::format("{}:{}:{}", token.line, token.column, token.text));
    }
  }
  return all;
}

TEST(TextReaderTest, SaysWhereEachTokenStands) {
  EXPECT_THAT(AllTokens("ab c\n\n \td\t\te  \n"),
              ElementsAre("1:1:ab", "1:4:c", "2", "3:3:d", "3:6:e"));
}

TEST(TextReaderTest, TakesEveryEndOfLine) {
  EXPECT_THAT(AllTokens("a\nb"), ElementsAre("1:1:a", "2:1:b"));
  EXPECT_THAT(AllTokens("a\nb\n"), ElementsAre("1:1:a", "2:1:b"));
  EXPECT_THAT(AllTokens("a\r\nb\r\n"), ElementsAre("1:1:a", "2:1:b"));
  EXPECT_THAT(AllTokens("\n"), ElementsAre("1"));
  EXPECT_THAT(AllTokens(""), IsEmpty());
}

TEST(TextReaderTest, CountsColumnsInBytes) {
  EXPECT_THAT(AllTokens("\xc3\xa9 x"), ElementsAre("1:1:\xc3\xa9", "1:4:x"));
}

TEST(TextReaderTest, PutsAnErrorWhereTheTokenStands) {
  TextReader reader("dir/my file", "a\nb cc");
  reader.NextLine();
  reader.NextLine();
  EXPECT_THAT(reader.Error(reader.tokens()[1], "is wrong"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "dir/my file:2:3: is wrong"));
}

TEST(TextReaderTest, PutsAnErrorBehindTheLastToken) {
  TextReader reader("file", "a bb  \n\n");
  reader.NextLine();
  EXPECT_THAT(
      reader.ErrorAtEnd("ends early"),
      StatusIs(absl::StatusCode::kInvalidArgument, "file:1:5: ends early"));
  reader.NextLine();
  EXPECT_THAT(
      reader.ErrorAtEnd("is empty"),
      StatusIs(absl::StatusCode::kInvalidArgument, "file:2:1: is empty"));
}

TEST(TextReaderTest, StandsOneLineBehindTheLast) {
  TextReader reader("file", "a\nb\n");
  while (reader.NextLine()) {
  }
  EXPECT_EQ(reader.line(), 3u);
  EXPECT_THAT(reader.tokens(), IsEmpty());
  EXPECT_FALSE(reader.NextLine());
  EXPECT_EQ(reader.line(), 3u);
}

}  // namespace
}  // namespace astra
