#include "astra-core/apps/run_watch.h"

#include <chrono>

#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"

namespace astra {

absl::Status RunWatch::Update(double fraction, TimePs simulated) {
  if (!signals_) signals_.emplace();
  const char* signal = signals_->Wait(std::chrono::milliseconds(0));
  if (signal != nullptr) {
    return WithExitCode(
        absl::AbortedError(fmt::format(
            "stopped by {} at {:.3f} us of simulated time, with {:.1f} % of "
            "the work done",
            signal, ToMicroseconds(simulated), 100 * fraction)),
        StopCode(signal));
  }
  if (shows_progress_) progress_.Update(fraction, simulated);
  return absl::OkStatus();
}

}  // namespace astra
