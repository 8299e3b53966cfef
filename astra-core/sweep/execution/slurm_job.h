// A job array of Slurm's and its files, in slurm/N of a sweep's folder:
//
//   job.sh      the batch script: task K runs the points in
//   tasks       its line K, by number, of
//   sweep.yaml  the sweep file as it was then
//   keys        line K: the keys of these points
//   job         what sbatch printed, once it has
//   K.log       what task K printed
//
// Source: Slurm's sbatch(1), and what that of 22.05 does.

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

// The numbers of the points of each task: consecutive ones, of which tasks
// have equally many but for the last, as SlurmOptions::points_per_task says or
// so many that kMaxTasks suffice. Requires at least one point.
std::vector<std::vector<uint32_t>> TasksOf(
    absl::Span<const PreparedPoint* const> points, int64_t points_per_task);

constexpr int64_t kMaxTasks = 1000;  // Slurm's default MaxArraySize is 1001.

// "3,5-9", as --point reads it.
std::string PointList(absl::Span<const uint32_t> numbers);

// The batch script of the array: `folder` is that of the submission. Task K
// runs the points in line K of its file "tasks", with what `run` says; a task
// that is requeued leaves out those that are over.
std::string JobScript(const SweepRun& run, const SchedulerOptions& options,
                      const std::string& folder, size_t num_tasks);

// The command that submits it. What the user may have named is here and not in
// the script, where sbatch could not read every name.
std::vector<std::string> SubmitCommand(const SweepRun& run,
                                       const SlurmOptions& options,
                                       const std::string& folder);

struct SlurmSubmission {
  std::string folder;
  SlurmJob job;
  std::string warning;  // Of sbatch, in one line; most often empty.
};

// Submits one array for run.points.
//
// Errors: FailedPrecondition where sbatch is not there or refuses, with what it
// says; InvalidArgument for a folder whose name Slurm cannot take; those of
// WriteFile. Nothing is left behind.
absl::StatusOr<SlurmSubmission> Submit(const SweepRun& run,
                                       const SchedulerOptions& options);

// What was submitted for `folder` so far, in that order.
std::vector<SlurmSubmission> ReadSubmissions(const SweepFolder& folder);

// The keys of the points of each task, the first task's first; none for one
// whose files are not there.
std::vector<std::vector<std::string>> ReadTaskKeys(
    const SlurmSubmission& submission);

// The file that task `index` writes what it prints to.
std::string LogFile(const SlurmSubmission& submission, uint32_t index);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_SLURM_JOB_H_
