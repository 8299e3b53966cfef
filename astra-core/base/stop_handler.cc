#include "astra-core/base/stop_handler.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "astra-core/base/stop_signals.h"
#include "fmt/core.h"

namespace astra {
namespace {

// The handler of signals reads these: nothing can be passed to it.
struct Unfinished {
  std::atomic_flag is_locked = ATOMIC_FLAG_INIT;
  pid_t process = 0;
  std::string begin;  // The last line up to the name of the signal.
  std::vector<std::string> paths;
};

// Returns the only object. It is never destroyed, since a signal may come while
// the process exits.
Unfinished& TheUnfinished() {
  static auto& unfinished = *new Unfinished();
  return unfinished;
}

sigset_t SetOfStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kStopSignals) sigaddset(&signals, signal);
  return signals;
}

void Lock(Unfinished& unfinished) {
  while (unfinished.is_locked.test_and_set(std::memory_order_acquire)) {
  }
}

// Gives access to the object. The thread that holds it handles no signal, so a
// handler never waits for the thread that it interrupts.
class Access {
 public:
  Access() {
    const sigset_t signals = SetOfStopSignals();
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
    Lock(unfinished_);
  }
  ~Access() {
    unfinished_.is_locked.clear(std::memory_order_release);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  Unfinished* operator->() { return &unfinished_; }

 private:
  Unfinished& unfinished_ = TheUnfinished();
  sigset_t before_{};
};

void Say(std::string_view text) {
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, text.data(), text.size());
}

// The handler. It calls async-signal-safe functions only; std::remove is
// unlink() and rmdir(). The lock is kept to the end, so that no other thread
// begins a file.
void EndProcess(int signal) {
  const char* name = NameOfStopSignal(signal);
  Unfinished& unfinished = TheUnfinished();
  if (getpid() == unfinished.process) {
    Lock(unfinished);
    const std::vector<std::string>& paths = unfinished.paths;
    for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
      std::remove(path->c_str());
    }
    Say(unfinished.begin);
    Say(name);
    Say("\n");
  }
  _exit(StopCode(name));
}

void HandleStopSignals(void (*handler)(int)) {
  for (const int signal : kStopSignals) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    // A shell ignores SIGINT for background jobs.
    if (action.sa_handler == SIG_IGN) continue;
    action.sa_handler = handler;
    action.sa_mask = SetOfStopSignals();
    action.sa_flags = 0;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

void EndOnSignals(std::string_view program) {
  // On a terminal the line takes the place of the progress.
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  {
    Access unfinished;
    unfinished->process = getpid();
    unfinished->begin = fmt::format("{}{}: error: stopped by ",
                                    is_terminal ? "\r\x1b[K" : "", program);
  }
  HandleStopSignals(EndProcess);
}

void EndSilentlyOnSignals() { HandleStopSignals(SIG_DFL); }

void RemoveOnSignal(std::string_view path) {
  Access unfinished;
  unfinished->paths.emplace_back(path);
}

void KeepOnSignal(std::string_view path) {
  Access unfinished;
  std::vector<std::string>& paths = unfinished->paths;
  const auto found = std::find(paths.rbegin(), paths.rend(), path);
  if (found != paths.rend()) paths.erase(std::next(found).base());
}

}  // namespace astra
