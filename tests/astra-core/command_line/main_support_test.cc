#include "astra-core/command_line/main_support.h"

#include <cstdio>
#include <string>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

TEST(ExitCodeTest, Is2ForWhatTheUserCanMendAnd1ForAFailedRun) {
  const testing::TemporaryFolder folder;
  std::FILE* const file = std::fopen(folder.PathOf("log").c_str(), "w");
  const Log log("program", file);
  EXPECT_EQ(ExitCode(absl::OkStatus(), log), 0);
  EXPECT_EQ(ExitCode(absl::InvalidArgumentError("a"), log), 2);
  EXPECT_EQ(ExitCode(absl::NotFoundError("b"), log), 2);
  EXPECT_EQ(ExitCode(absl::UnimplementedError("c"), log), 2);
  EXPECT_EQ(ExitCode(absl::PermissionDeniedError("d"), log), 2);
  EXPECT_EQ(ExitCode(absl::FailedPreconditionError("e"), log), 2);
  EXPECT_EQ(ExitCode(absl::InternalError("f"), log), 1);
  EXPECT_EQ(ExitCode(absl::AbortedError("g"), log), 1);
  EXPECT_EQ(ExitCode(WithExitCode(absl::AbortedError("h"), 143), log), 143);
  std::fclose(file);

  std::string expected;
  for (const char message : std::string("abcdefgh")) {
    expected += fmt::format("program: error: {}\n", message);
  }
  EXPECT_EQ(testing::ReadText(folder.PathOf("log")), expected);
}

}  // namespace
}  // namespace astra
