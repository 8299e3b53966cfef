#include "astra-core/base/progress.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::StartsWith;

TEST(ProgressTextTest, SaysShareSimulatedTimeAndWhatIsLeft) {
  // A quarter took 5 s, so three quarters take 15 s.
  EXPECT_EQ(ProgressText(0.25, SimulatedText(Microseconds(1250)), 5),
            "  25 %  simulated 1.250 ms  15 s left");
  EXPECT_EQ(ProgressText(1, SimulatedText(Microseconds(2'000'000)), 60),
            " 100 %  simulated 2000.000 ms  0 s left");
}

TEST(ProgressTextTest, DetailsComeLast) {
  EXPECT_EQ(ProgressText(0.5, "half", 2, "ended: a broadcast"),
            "  50 %  half  2 s left  ended: a broadcast");
}

TEST(ProgressTextTest, ForeseesNothingBeforeItHasBegun) {
  EXPECT_EQ(ProgressText(0, "none", 1.5), "   0 %  none");
}

// A terminal of our own, and what it has been sent.
class Terminal {
 public:
  Terminal() : screen_(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) {
    if (grantpt(screen_) == 0 && unlockpt(screen_) == 0) {
      file_ = std::fopen(ptsname(screen_), "w");
    }
  }
  ~Terminal() {
    if (file_ != nullptr) std::fclose(file_);
    close(screen_);
  }

  // None where the system has no pseudo-terminals, as in a bare chroot.
  std::FILE* file() { return file_; }
  std::string TakeText() {
    std::fflush(file_);
    char text[4096];
    const ssize_t count = read(screen_, text, sizeof text);
    return count > 0 ? std::string(text, static_cast<size_t>(count)) : "";
  }

 private:
  int screen_;
  std::FILE* file_ = nullptr;
};

TEST(ProgressLineTest, OnATerminalIsForRunsOfOverASecond) {
  Terminal terminal;
  if (terminal.file() == nullptr) GTEST_SKIP() << "no pseudo-terminal here";
  {
    ProgressLine on_terminal(terminal.file());
    on_terminal.Update(0.1, Microseconds(100));
    EXPECT_EQ(terminal.TakeText(), "");

    std::this_thread::sleep_for(std::chrono::milliseconds(1010));
    on_terminal.Update(0.5, Microseconds(500));
    EXPECT_THAT(terminal.TakeText(),
                StartsWith("\r\x1b[K  50 %  simulated 0.500 ms  1 s left"));
    on_terminal.Update(0.6, Microseconds(600));
    EXPECT_EQ(terminal.TakeText(), "") << "twice within 200 ms";
  }
  EXPECT_EQ(terminal.TakeText(), "\r\x1b[K");  // Clean for what follows.
}

// A line that wraps could not be replaced.
TEST(ProgressLineTest, OnATerminalIsNoWiderThanTheTerminal) {
  Terminal terminal;
  if (terminal.file() == nullptr) GTEST_SKIP() << "no pseudo-terminal here";
  const winsize size{
      .ws_row = 10, .ws_col = 40, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(ioctl(fileno(terminal.file()), TIOCSWINSZ, &size), 0);
  ProgressLine on_terminal(terminal.file());
  std::this_thread::sleep_for(std::chrono::milliseconds(1010));
  on_terminal.Update(0.5, "half of the work", std::string(100, 'x'));
  EXPECT_EQ(terminal.TakeText(),
            "\r\x1b[K  50 %  half of the work  1 s left  xxx");
}

TEST(ProgressLineTest, InAFileIsALineForEachTenthOfTheWork) {
  const testing::TemporaryFolder folder;
  std::FILE* const file = std::fopen(folder.PathOf("log").c_str(), "w");
  {
    ProgressLine progress(file, std::chrono::milliseconds(0), 0.1);
    for (int step = 1; step <= 4; ++step) {
      progress.Update(0.06 * step, "step");
      std::this_thread::sleep_for(std::chrono::milliseconds(210));
    }
  }
  std::fclose(file);
  EXPECT_EQ(testing::ReadText(folder.PathOf("log")),
            "  12 %  step  2 s left\n"
            "  24 %  step  2 s left\n");
}

TEST(ProgressLineTest, InAFileIsALineAtATimeWithoutControlCharacters) {
  const testing::TemporaryFolder folder;
  std::FILE* const file = std::fopen(folder.PathOf("log").c_str(), "w");
  {
    ProgressLine progress(file, std::chrono::milliseconds(300));
    progress.Update(0.1, Microseconds(100));  // Too early.
    std::this_thread::sleep_for(std::chrono::milliseconds(310));
    progress.Update(0.5, Microseconds(500));
    progress.Update(0.6, Microseconds(600));  // Too soon after the other.
    progress.Clear();
  }
  std::fclose(file);
  EXPECT_EQ(testing::ReadText(folder.PathOf("log")),
            "  50 %  simulated 0.500 ms  0 s left\n");
}

}  // namespace
}  // namespace astra
