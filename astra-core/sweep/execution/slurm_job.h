// A Slurm job array and its files, in the folder slurm/N of a sweep:
//
//   job.sh      batch script; task K runs the points in line K of "tasks"
//   tasks       line K: the numbers of the points of task K
//   sweep.yaml  copy of the sweep file at the time of submission
//   keys        line K: the keys of the points of task K
//   job         what sbatch printed; missing until sbatch has printed it
//   K.log       what task K printed
//
// Source: Slurm's sbatch(1), and the behaviour of sbatch 22.05.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_SLURM_JOB_H_
#define ASTRA_CORE_SWEEP_EXECUTION_SLURM_JOB_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/sweep/execution/scheduler.h"
#include "astra-core/sweep/execution/slurm_queue.h"

namespace astra {

// Splits the points into tasks and returns the point numbers of each task.
// Tasks hold consecutive points and have equal sizes, except that the last may
// be smaller. The size is `points_per_task`, or the smallest that needs at most
// kMaxTasks tasks where that is 0. Requires at least one point.
std::vector<std::vector<uint32_t>> TasksOf(
    absl::Span<const PreparedPoint* const> points, int64_t points_per_task);

constexpr int64_t kMaxTasks = 1000;  // Slurm's default MaxArraySize is 1001.

// Returns point numbers in the form that --point reads, such as "3,5-9".
std::string PointList(absl::Span<const uint32_t> numbers);

// Returns the batch script of the array. `folder` is the folder of the
// submission. Task K runs the points in line K of the file "tasks" with the
// options of `run`. A task that is requeued skips the points that are over.
std::string JobScript(const SweepRun& run, const SchedulerOptions& options,
                      const std::string& folder, size_t num_tasks);

// Returns the command that submits the array. Names that the user chose are
// passed here and not in the script, because sbatch cannot read every name in a
// script.
std::vector<std::string> SubmitCommand(const SweepRun& run,
                                       const SlurmOptions& options,
                                       const std::string& folder);

struct SlurmSubmission {
  std::string folder;
  SlurmJob job;
  std::string warning;  // Warning of sbatch in one line; usually empty.
};

// Submits one job array for run.points.
//
// Errors: FailedPrecondition, with sbatch's message, where sbatch is missing or
// refuses the array; InvalidArgument for a folder whose name Slurm cannot take;
// the errors of WriteFile. An error leaves no files behind.
absl::StatusOr<SlurmSubmission> Submit(const SweepRun& run,
                                       const SchedulerOptions& options);

// Returns all submissions for `folder` so far, the oldest first.
std::vector<SlurmSubmission> ReadSubmissions(const SweepFolder& folder);

// Returns the keys of the points of each task, in the order of the tasks.
// Returns no keys for a submission whose files are missing.
std::vector<std::vector<std::string>> ReadTaskKeys(
    const SlurmSubmission& submission);

// Returns the path of the file that holds what task `index` printed.
std::string LogFile(const SlurmSubmission& submission, uint32_t index);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_SLURM_JOB_H_
