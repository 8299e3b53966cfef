// Points as the tasks of one Slurm job array.
//
// Source: Slurm's own documentation of sbatch, squeue and scancel, and what
// slurmctld 22.05 does.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_SLURM_SCHEDULER_H_
#define ASTRA_CORE_SWEEP_EXECUTION_SLURM_SCHEDULER_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "astra-core/sweep/execution/scheduler.h"
#include "astra-core/sweep/execution/slurm_job.h"  // IWYU pragma: export

namespace astra {

// Submits one job array and, if asked to wait, reads what its tasks record
// until none is left. A task that is gone without a record of one of its points
// makes that point fail, with its log and the last line of that. Such a record
// is not on disk. SIGINT and SIGTERM end the wait, not the array: Cancelled,
// after a note of how to go on.
//
// Points that tasks of an earlier array still hold are not submitted again, but
// waited for; and submitted then, where these tasks ended without them.
//
// Errors: FailedPrecondition where sbatch or squeue are not there or sbatch
// refuses, and Aborted where the queue does not answer, for
// SlurmTiming::patience in the end, each with what they say; those of Submit
// and of the events.
absl::Status RunOnSlurm(const SweepRun& run, const SchedulerOptions& options,
                        const SweepEvents& events);

// The number of a job array of `folder` that is in the queue: its points must
// not run elsewhere too. Empty where there is none, and where squeue is not
// there or does not answer: another host may have Slurm.
std::string QueuedJob(const SweepFolder& folder);

struct SlurmTiming {
  // Records are read so often, or less often where it takes long.
  std::chrono::milliseconds poll{500};
  // The queue is asked so often at first, and ever less often.
  std::chrono::milliseconds first_query{2'000};
  std::chrono::milliseconds last_query{15'000};
  // A record may show up so long after its task is gone: on a network's file
  // system.
  std::chrono::milliseconds lag{5'000};
  std::chrono::milliseconds patience{300'000};
};

// The same with another timing, for tests.
absl::Status RunOnSlurmTimed(const SweepRun& run,
                             const SchedulerOptions& options,
                             const SweepEvents& events,
                             const SlurmTiming& timing);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_SLURM_SCHEDULER_H_
