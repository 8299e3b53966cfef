#include "astra-core/base/stop_handler.h"

#include <unistd.h>

#include <csignal>
#include <string>
#include <utility>

#include "astra-core/base/files.h"
#include "astra-core/base/stop_signals.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ReadText;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::ExitedWithCode;

// Each EXPECT_EXIT runs its statement in a process of its own.
TEST(EndOnSignalsTest, EndsWithALastLineAndTheCodeOfAShell) {
  const auto stop = [](int signal) {
    EndOnSignals("program");
    raise(signal);
  };
  EXPECT_EXIT(stop(SIGINT), ExitedWithCode(130),
              "^program: error: stopped by SIGINT\n$");
  EXPECT_EXIT(stop(SIGTERM), ExitedWithCode(143),
              "^program: error: stopped by SIGTERM\n$");
  EXPECT_EXIT(stop(SIGHUP), ExitedWithCode(129),
              "^program: error: stopped by SIGHUP\n$");
}

TEST(EndOnSignalsTest, RemovesUnfinishedFilesAndEmptyFolders) {
  const TemporaryFolder folder;
  const auto stop = [&] {
    EndOnSignals("program");
    const OutputFolder whole =
        ValueOrDie(OutputFolder::Create(folder.PathOf("whole")));
    (void)whole.Write({{"a", "1\n"}});
    const OutputFolder empty =
        ValueOrDie(OutputFolder::Create(folder.PathOf("empty/inner")));
    TemporaryFile unfinished = ValueOrDie(empty.Begin("b"));
    TemporaryFile moved = std::move(unfinished);
    moved.Append("2\n");
    raise(SIGTERM);
  };
  EXPECT_EXIT(stop(), ExitedWithCode(143), "stopped by SIGTERM");
  EXPECT_THAT(folder.Names(), ElementsAre("whole"));
  EXPECT_EQ(ReadText(folder.PathOf("whole/a")), "1\n");
}

TEST(EndOnSignalsTest, LeavesIgnoredSignalsAndThoseThatAreWaitedFor) {
  const auto go_on = [] {
    std::signal(SIGHUP, SIG_IGN);
    EndOnSignals("program");
    raise(SIGHUP);
    {
      const StopSignals signals;
      raise(SIGINT);
    }
    _exit(7);
  };
  EXPECT_EXIT(go_on(), ExitedWithCode(7), "^$");
}

TEST(EndSilentlyOnSignalsTest, SaysNothing) {
  const auto stop = [] {
    EndOnSignals("program");
    EndSilentlyOnSignals();
    raise(SIGTERM);
  };
  EXPECT_EXIT(stop(), ::testing::KilledBySignal(SIGTERM), "^$");
}

}  // namespace
}  // namespace astra
