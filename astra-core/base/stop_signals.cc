#include "astra-core/base/stop_signals.h"

#include <ctime>

namespace astra {

StopSignals::StopSignals() {
  sigemptyset(&waited_);
  sigaddset(&waited_, SIGCHLD);
  for (const int signal : kStopSignals) {
    // Signals that are ignored stay ignored: a shell ignores SIGINT for
    // background jobs.
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&waited_, signal);
  }
  sigprocmask(SIG_BLOCK, &waited_, &before_);
}

StopSignals::~StopSignals() {
  const bool is_outermost = sigismember(&before_, SIGCHLD) == 0;
  while (is_outermost && Wait(std::chrono::milliseconds(0)) != nullptr) {
  }
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

const char* StopSignals::Wait(std::chrono::milliseconds longest) const {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(longest);
  timespec time{};
  time.tv_sec = static_cast<time_t>(seconds.count());
  time.tv_nsec = static_cast<decltype(time.tv_nsec)>(
      std::chrono::nanoseconds(longest - seconds).count());
  return NameOfStopSignal(sigtimedwait(&waited_, nullptr, &time));
}

const char* NameOfStopSignal(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return nullptr;
  }
}

int StopCode(std::string_view signal) {
  if (signal == "SIGINT") return 128 + SIGINT;
  return 128 + (signal == "SIGHUP" ? SIGHUP : SIGTERM);
}

}  // namespace astra
