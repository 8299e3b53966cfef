#include "astra-core/command_line/main_support.h"

#include <csignal>
#include <cstdio>
#include <new>
#include <stdexcept>
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

TEST(RunMainTest, SaysInOneLineThatMemoryRanOut) {
  const testing::TemporaryFolder folder;
  std::FILE* const file = std::fopen(folder.PathOf("log").c_str(), "w");
  const Log log("program", file);
  EXPECT_EQ(RunMain(log, [] { return 1; }), 1);
  EXPECT_EQ(RunMain(log, []() -> int { throw std::bad_alloc(); }), 2);
  EXPECT_EQ(RunMain(log, []() -> int { throw std::length_error("a vector"); }),
            2);
  std::fclose(file);

  const std::string line =
      "program: error: out of memory: more is needed than is free here or "
      "allowed (ulimit -v); a smaller cluster, workload or file needs less\n";
  EXPECT_EQ(testing::ReadText(folder.PathOf("log")), line + line);
}

TEST(RunMainTest, ASignalEndsTheProgramWithALastLine) {
  const Log log("program");
  EXPECT_EXIT(RunMain(log, [] { return raise(SIGTERM); }),
              ::testing::ExitedWithCode(143),
              "^program: error: stopped by SIGTERM\n$");
}

}  // namespace
}  // namespace astra
