// Runs points as processes of this machine.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_LOCAL_SCHEDULER_H_
#define ASTRA_CORE_SWEEP_EXECUTION_LOCAL_SCHEDULER_H_

#include "absl/status/status.h"
#include "astra-core/sweep/execution/scheduler.h"

namespace astra {

// Runs the points in their order, at most LocalOptions::jobs at once (one for
// each core by default), and only as many as fit into memory together. Each
// point is assumed to need as much as the largest point that has ended, or
// kFirstMemoryBytes before any has ended. At least one point always runs. A
// point that was killed by SIGKILL while others ran, as the kernel does when
// memory runs out, is run once more, alone.
//
// Errors: Cancelled "stopped by SIGINT" or SIGTERM, after all points have been
// killed; the errors of the events.
absl::Status RunLocally(const SweepRun& run, const SchedulerOptions& options,
                        const SweepEvents& events);

constexpr int64_t kFirstMemoryBytes = int64_t{256} << 20;

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_LOCAL_SCHEDULER_H_
