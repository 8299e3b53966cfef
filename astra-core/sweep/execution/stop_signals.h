// Signals as something to wait for, in place of handlers.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_STOP_SIGNALS_H_
#define ASTRA_CORE_SWEEP_EXECUTION_STOP_SIGNALS_H_

#include <chrono>
#include <csignal>

namespace astra {

// While one lives, SIGINT and SIGTERM do not end the program: Wait() tells of
// them.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Waits until a child has ended, a stop signal has come or the time is over.
  // Returns the name of the stop signal, else null.
  const char* Wait(std::chrono::milliseconds longest) const;

 private:
  sigset_t waited_{};
  sigset_t before_{};
};

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_STOP_SIGNALS_H_
