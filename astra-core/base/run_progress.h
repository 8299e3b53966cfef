// How far a run has come, for whoever watches it.
//
//   options.on_progress = [](const RunProgress& progress) {
//     fmt::print("{:.0f} %\n", 100 * progress.share);
//     return absl::OkStatus();
//   };

#ifndef ASTRA_CORE_BASE_RUN_PROGRESS_H_
#define ASTRA_CORE_BASE_RUN_PROGRESS_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "astra-core/base/units.h"

namespace astra {

// What a simulation, or one of its networks, has done since it began.
struct WorkDone {
  uint64_t events = 0;    // Events that were executed.
  uint64_t messages = 0;  // Messages that have arrived.
};

struct RunProgress {
  double share = 0;  // Share of the work that is done, 0 to 1.
  TimePs simulated;  // Simulated time up to now.
  // Work of the simulation that is under way. A run may consist of several
  // simulations, one after the other, and each of them counts from 0.
  WorkDone work = {};
};

// Is called many times a second during a run, which ends with the error that
// the function returns.
using ProgressWatch = std::function<absl::Status(const RunProgress&)>;

}  // namespace astra

#endif  // ASTRA_CORE_BASE_RUN_PROGRESS_H_
