// Lets a program wait for signals instead of handling them.

#ifndef ASTRA_CORE_BASE_STOP_SIGNALS_H_
#define ASTRA_CORE_BASE_STOP_SIGNALS_H_

#include <chrono>
#include <csignal>
#include <string_view>

namespace astra {

// Signals that ask a program to end.
inline constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};

// While an object exists, SIGINT, SIGTERM and SIGHUP do not end the program;
// Wait() reports them instead. The outermost object discards unreported signals
// at its end.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Waits until a child has ended, a stop signal has come, or the time is over.
  // Returns the name of the stop signal, to be passed to StopCode(), or else
  // null.
  const char* Wait(std::chrono::milliseconds longest) const;

 private:
  sigset_t waited_{};
  sigset_t before_{};
};

// Returns "SIGINT" or the like, or null for another signal.
const char* NameOfStopSignal(int signal);

// Returns the exit code of a program that the signal of that name stopped, as
// in shells: 130 for "SIGINT".
int StopCode(std::string_view signal);

}  // namespace astra

#endif  // ASTRA_CORE_BASE_STOP_SIGNALS_H_
