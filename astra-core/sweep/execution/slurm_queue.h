// What Slurm's queue holds of job arrays, as squeue tells it.
//
// Source: Slurm's squeue(1), and what that of 22.05 does.

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

// "123", or "123;CLUSTER" where Slurm runs several clusters.
struct SlurmJob {
  std::string id;
  std::string cluster;  // Empty: the one of this host.
};

// Reads what sbatch --parsable prints.
//
// Errors: FailedPrecondition for what is no such text.
absl::StatusOr<SlurmJob> ParseSlurmJob(std::string_view text);

// A task that waits, runs or is about to end or to start again.
struct SlurmTask {
  std::string job;
  uint32_t index = 0;
  std::string state;   // "PENDING", "RUNNING", ...
  std::string reason;  // Why it waits: "Resources", "JobHeldUser", ...
};

// The command that lists the tasks of `jobs` to ParseSlurmTasks(). It must not
// see the user's variables that begin with kQueueVariables: they leave out
// tasks and choose another format.
std::vector<std::string> QueueCommand(absl::Span<const SlurmJob> jobs);
constexpr std::string_view kQueueVariables = "SQUEUE_";

// The tasks that are not over. A job of which Slurm knows nothing any more has
// none.
//
// Errors: Unavailable, with what squeue says.
absl::StatusOr<std::vector<SlurmTask>> ParseSlurmTasks(
    const CommandResult& result);

// Whether a task that waits for `reason` starts by itself, sooner or later.
bool IsUsualReason(std::string_view reason);

// What `program`, one of Slurm's, gives as its reason for failing, in one line:
// "sbatch: error: invalid partition specified: x; ...".
std::string WhatItSays(std::string_view program, const CommandResult& result);

// The parts of `text` between separators, but for empty ones.
std::vector<std::string_view> PartsOf(std::string_view text, char separator);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_SLURM_QUEUE_H_
