// Runs points as the tasks of one Slurm job array.
//
// Source: Slurm's documentation of sbatch, squeue and scancel, and the
// behaviour of slurmctld 22.05.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_SLURM_SCHEDULER_H_
#define ASTRA_CORE_SWEEP_EXECUTION_SLURM_SCHEDULER_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "astra-core/sweep/execution/scheduler.h"
#include "astra-core/sweep/execution/slurm_job.h"  // IWYU pragma: export

namespace astra {

// Submits one job array and, if asked to wait, reads the records that its tasks
// write until no task is left. A point fails if its task has ended without
// writing a record: the failure then names the task's log and its last line,
// and no record is written to disk. SIGINT and SIGTERM end the wait but not the
// array: the result is Cancelled, after a note that says how to continue.
//
// Points that an earlier array still holds are waited for instead of submitted
// again. They are submitted if the tasks of that array end without them.
//
// Errors: FailedPrecondition where sbatch or squeue is missing or sbatch
// refuses; Aborted where the queue has not answered for SlurmTiming::patience.
// Both carry the message of the program. Also the errors of Submit and events.
absl::Status RunOnSlurm(const SweepRun& run, const SchedulerOptions& options,
                        const SweepEvents& events);

// Returns the number of a job array of `folder` that is in the queue; its
// points must not run elsewhere at the same time. Returns an empty string where
// there is none, and where squeue is missing or does not answer: another host
// may have Slurm.
std::string QueuedJob(const SweepFolder& folder);

struct SlurmTiming {
  // Interval between reads of the records; longer where one read takes long.
  std::chrono::milliseconds poll{500};
  // Interval between the first two queries of the queue, and the longest one:
  // the intervals grow from one to the other.
  std::chrono::milliseconds first_query{2'000};
  std::chrono::milliseconds last_query{15'000};
  // How long after the end of a task its record may still appear, as on a
  // network file system.
  std::chrono::milliseconds lag{5'000};
  std::chrono::milliseconds patience{300'000};
};

// RunOnSlurm() with another timing, for tests.
absl::Status RunOnSlurmTimed(const SweepRun& run,
                             const SchedulerOptions& options,
                             const SweepEvents& events,
                             const SlurmTiming& timing);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_SLURM_SCHEDULER_H_
