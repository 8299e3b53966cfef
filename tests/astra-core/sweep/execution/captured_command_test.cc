#include "astra-core/sweep/execution/captured_command.h"

#include <signal.h>

#include <cstdlib>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ReadText;
using ::astra::testing::StatusIs;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::ValueOrDie;

CommandResult Shell(const std::string& script, std::string_view hidden = "") {
  return ValueOrDie(CapturedCommand::Start({"sh", "-c", script}, hidden))
      .Wait();
}

TEST(CapturedCommandTest, GivesAllThatIsPrintedAndTheExitCode) {
  // More than a pipe holds.
  const CommandResult result =
      Shell("head -c 200000 /dev/zero | tr '\\0' x; echo no >&2; exit 3");
  EXPECT_EQ(result.out, std::string(200000, 'x'));
  EXPECT_EQ(result.error, "no\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(Shell("kill -9 $$").exit_code, 137);
}

TEST(CapturedCommandTest, PassesWordsAsTheyAreAndNoInput) {
  EXPECT_EQ(
      ValueOrDie(CapturedCommand::Start(
                     {"sh", "-c", "cat; echo \"$1\"", "sh", "a  'b $x"}, ""))
          .Wait()
          .out,
      "a  'b $x\n");
}

TEST(CapturedCommandTest, HidesVariablesWithThePrefix) {
  setenv("SQUEUE_STATES", "R", 1);
  setenv("SLURM_CONF", "c", 1);
  const std::string script = "echo \"$SQUEUE_STATES,$SLURM_CONF\"";
  EXPECT_EQ(Shell(script).out, "R,c\n");
  EXPECT_EQ(Shell(script, "SQUEUE_").out, ",c\n");
  unsetenv("SQUEUE_STATES");
  unsetenv("SLURM_CONF");
}

TEST(CapturedCommandTest, BlocksNoSignal) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  EXPECT_EQ(Shell("kill -TERM $$").exit_code, 128 + SIGTERM);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

TEST(CapturedCommandTest, IsPolledUntilItEnds) {
  const TemporaryFolder folder;
  const std::string gate = folder.PathOf("gate");
  CapturedCommand command = ValueOrDie(CapturedCommand::Start(
      {"sh", "-c", "while [ ! -e \"$1\" ]; do sleep 0.01; done; echo x", "sh",
       gate},
      ""));
  EXPECT_FALSE(command.Poll().has_value());
  testing::WriteText(gate, "");
  std::optional<CommandResult> result;
  while (!result) result = command.Poll();
  EXPECT_EQ(result->out, "x\n");
}

TEST(CapturedCommandTest, IsKilledWhenNobodyWaits) {
  const TemporaryFolder folder;
  const std::string file = folder.PathOf("pid");
  {
    const CapturedCommand command = ValueOrDie(CapturedCommand::Start(
        {"sh", "-c", "echo $$ >\"$1.new\"; mv \"$1.new\" \"$1\"; exec sleep 60",
         "sh", file},
        ""));
    while (folder.Names() != std::vector<std::string>{"pid"}) {
    }
  }
  EXPECT_EQ(kill(std::stoi(ReadText(file)), 0), -1);
}

TEST(CapturedCommandTest, SaysWhatCannotBeRun) {
  EXPECT_THAT(
      CapturedCommand::Start({"no-such-program", "-x"}, ""),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "no-such-program: cannot be run: No such file or directory"));
}

}  // namespace
}  // namespace astra
