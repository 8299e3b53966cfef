// Who runs the points of a sweep: processes of this machine, or the tasks of a
// cluster's scheduler. A new one is a file and a line in schedulers.cc.

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
  int64_t jobs = 0;          // Points at once; 0: one for each core.
  int64_t memory_bytes = 0;  // For all at once; 0: most of what is free.
};

struct SlurmOptions {
  std::string partition;  // Each of these empty: the cluster's default.
  std::string account;
  std::string time;      // Of a task, as sbatch takes it: "01:00:00".
  std::string memory;    // Of a task, as sbatch takes it: "4G".
  std::string sbatch;    // More of sbatch's options, separated by spaces.
  int64_t throttle = 0;  // Tasks at once; 0: as many as Slurm gives.
  int64_t points_per_task = 0;  // 0: few enough tasks for one job array.
  bool wait = true;             // Until all tasks are over.
};

struct SchedulerOptions {
  LocalOptions local;
  SlurmOptions slurm;
  std::optional<std::chrono::milliseconds> timeout;  // Of a point.
};

// What is to be run.
struct SweepRun {
  const SweepFolder& folder;
  std::string name;            // Of the sweep.
  std::string sweep_text;      // The sweep file,
  std::string origin;          // what its relative paths are relative to,
  std::string program_folder;  // and where the programs are.
  std::string sweep_program;   // simai_sweep itself.
  std::string version;         // Of the programs.
  int64_t keep_bytes;          // Larger result files are removed.
  absl::Span<const PreparedPoint* const> points;  // Each key once.
};

// What whoever asked hears of it.
struct SweepEvents {
  // A point is over.
  std::function<absl::Status(const PointRecord&)> on_record;
  // At most a few times a second: so many run just now, of those that were
  // started and are not over.
  std::function<void(int64_t running)> on_running;
  // Once, with what a person may want to know, in one line.
  std::function<void(std::string_view)> on_note;
};

// Runs all points, or until told to stop by SIGINT or SIGTERM: then Cancelled
// "stopped by SIGINT", with what ran killed. A point that fails is no error.
using Scheduler = absl::Status (*)(const SweepRun& run,
                                   const SchedulerOptions& options,
                                   const SweepEvents& events);

struct SchedulerEntry {
  std::string_view name;
  Scheduler run;
};

// The schedulers known, sorted by name.
absl::Span<const SchedulerEntry> Schedulers();

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_SCHEDULER_H_
