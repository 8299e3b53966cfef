// Watches a run of a workload while it goes on: shows its progress, and looks
// for signals that are to stop it.

#ifndef ASTRA_CORE_APPS_RUN_WATCH_H_
#define ASTRA_CORE_APPS_RUN_WATCH_H_

#include <optional>

#include "absl/status/status.h"
#include "astra-core/base/progress.h"
#include "astra-core/base/stop_signals.h"
#include "astra-core/base/units.h"

namespace astra {

// From the first Update() on, and while the object lives, SIGINT, SIGTERM and
// SIGHUP no longer end the program: the next Update() reports them.
class RunWatch {
 public:
  explicit RunWatch(bool shows_progress = true)
      : shows_progress_(shows_progress) {}

  // Serves as SimulationOptions::on_progress.
  //
  // Errors: Aborted, with the signal and the progress of the run, if a signal
  // has come; the exit code of the error is that of StopCode().
  absl::Status Update(double fraction, TimePs simulated);

 private:
  bool shows_progress_;
  std::optional<StopSignals> signals_;
  ProgressLine progress_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_WATCH_H_
