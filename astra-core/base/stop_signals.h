// Signals as something to wait for, in place of handlers.

#ifndef ASTRA_CORE_BASE_STOP_SIGNALS_H_
#define ASTRA_CORE_BASE_STOP_SIGNALS_H_

#include <chrono>
#include <csignal>
#include <string_view>

namespace astra {

// While one lives, SIGINT, SIGTERM and SIGHUP do not end the program: Wait()
// tells of them. The first that lives to the end drops what came meanwhile.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Waits until a child has ended, a stop signal has come or the time is over.
  // Returns the name of the stop signal, which StopCode() knows; else null.
  const char* Wait(std::chrono::milliseconds longest) const;

 private:
  sigset_t waited_{};
  sigset_t before_{};
};

// The exit code of a program that a signal of that name stopped, as shells
// have it: 130 for "SIGINT".
int StopCode(std::string_view signal);

}  // namespace astra

#endif  // ASTRA_CORE_BASE_STOP_SIGNALS_H_
