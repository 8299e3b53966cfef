#include "astra-core/base/shell_word.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

TEST(ShellWordTest, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(ShellWord("DCN+"), "DCN+");
  EXPECT_EQ(ShellWord("a b"), "'a b'");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("it's"), R"('it'\''s')");
  EXPECT_EQ(ShellWord("$x"), "'$x'");
  EXPECT_EQ(ShellWord("~"), "'~'");
  EXPECT_EQ(ShellCommand({"run", "a b", "-c"}), "run 'a b' -c");
}

}  // namespace
}  // namespace astra
