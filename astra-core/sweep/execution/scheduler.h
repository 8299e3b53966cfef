// Runs the points of a sweep, as processes of this machine or as tasks of a
// cluster's scheduler. To add a scheduler, write a file and add a line to
// schedulers.cc.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_SCHEDULER_H_
#define ASTRA_CORE_SWEEP_EXECUTION_SCHEDULER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/sweep/execution/point_record.h"
#include "astra-core/sweep/execution/sweep_folder.h"
#include "astra-core/sweep/point_commands.h"

namespace astra {

struct LocalOptions {
  int64_t jobs = 0;  // Most points that run at once; 0: one for each core.
  // Memory for all running points; 0: most of what is free.
  int64_t memory_bytes = 0;
};

struct SlurmOptions {
  // Empty: the cluster's default, as for the next field.
  std::string partition;
  std::string account;
  std::string time;    // Time limit of a task, as sbatch reads it: "01:00:00".
  std::string memory;  // Memory of a task, as sbatch reads it: "4G".
  std::string sbatch;  // Further options of sbatch, separated by spaces.
  // Most tasks that run at once; 0: as many as Slurm gives.
  int64_t throttle = 0;
  // Points of a task; 0: the fewest that fit all tasks into one job array.
  int64_t points_per_task = 0;
  bool wait = true;  // Whether to wait until all tasks are over.
};

struct SchedulerOptions {
  LocalOptions local;
  SlurmOptions slurm;
  std::optional<std::chrono::milliseconds> timeout;  // Time limit of a point.
};

// The points to run, and what all of them have in common.
struct SweepRun {
  const SweepFolder& folder;
  std::string name;            // Name of the sweep.
  std::string sweep_text;      // Contents of the sweep file.
  std::string origin;          // Folder that its relative paths start from.
  std::string program_folder;  // Folder that holds the programs.
  std::string sweep_program;   // Path of simai_sweep itself.
  std::string version;         // Version of the programs.
  int64_t keep_bytes;          // Result files larger than this are removed.
  // Points to run; no two have the same key.
  absl::Span<const PreparedPoint* const> points;
};

// Callbacks through which a scheduler reports its progress.
struct SweepEvents {
  // Called when a point is over.
  std::function<absl::Status(const PointRecord&)> on_record;
  // Called at most a few times a second with the number of points that run now,
  // among those that were started and are not over.
  std::function<void(int64_t running)> on_running;
  // Called with a line of information for a person.
  std::function<void(std::string_view)> on_note;
};

// Runs all points. SIGINT and SIGTERM end the run early with Cancelled "stopped
// by SIGINT", after the running points have been killed. A point that fails is
// not an error.
using Scheduler = absl::Status (*)(const SweepRun& run,
                                   const SchedulerOptions& options,
                                   const SweepEvents& events);

struct SchedulerEntry {
  std::string_view name;
  Scheduler run;
};

// Returns all known schedulers, sorted by name.
absl::Span<const SchedulerEntry> Schedulers();

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_SCHEDULER_H_
