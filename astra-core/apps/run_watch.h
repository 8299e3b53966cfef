// What the programs that run a workload do while it runs: they say how far it
// is, and they look for signals that are to stop it.

#ifndef ASTRA_CORE_APPS_RUN_WATCH_H_
#define ASTRA_CORE_APPS_RUN_WATCH_H_

#include <optional>

#include "absl/status/status.h"
#include "astra-core/base/progress.h"
#include "astra-core/base/stop_signals.h"
#include "astra-core/base/units.h"

namespace astra {

// From the first Update() on, and while the object lives, SIGINT, SIGTERM and
// SIGHUP no longer end the program: the next Update() tells of them.
class RunWatch {
 public:
  explicit RunWatch(bool shows_progress = true)
      : shows_progress_(shows_progress) {}

  // For SimulationOptions::on_progress.
  //
  // Errors: Aborted, with the signal and how far the run was, if one has come;
  // its exit code is that of StopCode().
  absl::Status Update(double fraction, TimePs simulated);

 private:
  bool shows_progress_;
  std::optional<StopSignals> signals_;
  ProgressLine progress_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_WATCH_H_
