// Reads which tasks of job arrays are in Slurm's queue, from the output of
// squeue.
//
// Source: Slurm's squeue(1), and the behaviour of squeue 22.05.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_SLURM_QUEUE_H_
#define ASTRA_CORE_SWEEP_EXECUTION_SLURM_QUEUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/sweep/execution/captured_command.h"

namespace astra {

// A job, printed as "123", or as "123;CLUSTER" where Slurm runs several
// clusters.
struct SlurmJob {
  std::string id;
  std::string cluster;  // Empty: the cluster of this host.
};

// Parses what sbatch --parsable prints.
//
// Errors: FailedPrecondition if the text names no job.
absl::StatusOr<SlurmJob> ParseSlurmJob(std::string_view text);

// A task that waits, runs, is ending or will start again.
struct SlurmTask {
  std::string job;
  uint32_t index = 0;
  std::string state;   // "PENDING", "RUNNING", ...
  std::string reason;  // Why the task waits: "Resources", "JobHeldUser", ...
};

// Returns the command that lists the tasks of `jobs` for ParseSlurmTasks(). The
// command must run without the user's variables that begin with
// kQueueVariables: they may hide tasks or choose another format.
std::vector<std::string> QueueCommand(absl::Span<const SlurmJob> jobs);
constexpr std::string_view kQueueVariables = "SQUEUE_";

// Returns the tasks that are not over. A job that Slurm no longer knows has no
// tasks.
//
// Errors: Unavailable, with squeue's message.
absl::StatusOr<std::vector<SlurmTask>> ParseSlurmTasks(
    const CommandResult& result);

// Returns whether a task that waits for `reason` will sooner or later start by
// itself.
bool IsUsualReason(std::string_view reason);

// Returns in one line why `program`, one of Slurm's, failed: "sbatch: error:
// invalid partition specified: x; ...".
std::string WhatItSays(std::string_view program, const CommandResult& result);

// Splits `text` at each separator and leaves out empty parts.
std::vector<std::string_view> PartsOf(std::string_view text, char separator);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_SLURM_QUEUE_H_
