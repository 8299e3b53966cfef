// Points as processes of this machine.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_LOCAL_SCHEDULER_H_
#define ASTRA_CORE_SWEEP_EXECUTION_LOCAL_SCHEDULER_H_

#include "absl/status/status.h"
#include "astra-core/sweep/execution/scheduler.h"

namespace astra {

// Runs the points in their order, as many at once as LocalOptions allows: as
// many as cores, and only so many that their memory fits, each taken for the
// largest that was seen (or, before one has ended, for kFirstMemoryBytes). One
// point always runs. A point that the kernel killed (SIGKILL, as where memory
// runs out) while others ran is run once more, alone.
//
// Errors: Cancelled "stopped by SIGINT" or SIGTERM, once all are killed; those
// of the events.
absl::Status RunLocally(const SweepRun& run, const SchedulerOptions& options,
                        const SweepEvents& events);

constexpr int64_t kFirstMemoryBytes = int64_t{256} << 20;

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_LOCAL_SCHEDULER_H_
