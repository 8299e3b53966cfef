// Runs one point of a sweep: its steps one after another, each as a process.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_POINT_PROCESS_H_
#define ASTRA_CORE_SWEEP_EXECUTION_POINT_PROCESS_H_

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/sweep/execution/point_record.h"
#include "astra-core/sweep/execution/scheduler.h"

namespace astra {

// A point that is running. A step that makes an input file is skipped where the
// file exists. The output of the programs goes to points/KEY/log.txt, which
// also names the result files that were removed because they are too large. The
// processes die with the process that started them and never hold its terminal.
class PointProcess {
 public:
  // Starts the first step. `run` and `point` must outlive the returned object.
  //
  // Errors: PermissionDenied or Internal if files or processes cannot be
  // created.
  static absl::StatusOr<PointProcess> Start(const SweepRun& run,
                                            const PreparedPoint& point);

  // Process id of the step that runs now.
  pid_t pid() const { return pid_; }
  const PreparedPoint& point() const { return *point_; }
  std::chrono::steady_clock::time_point begin() const { return begin_; }

  // Ends the step that runs now. The record of the point will give `reason`.
  void Kill(std::string reason);

  // Must be called once wait4() has reported that pid() ended. Starts the next
  // step and returns none, or returns the record of the point, which is then on
  // disk.
  absl::StatusOr<std::optional<PointRecord>> Ended(int wait_status,
                                                   const rusage& usage);

  // Returns whether Kill() was called.
  bool was_told_to_end() const { return !kill_reason_.empty(); }

  // Gives up the point: kills its process, waits for the end and records
  // nothing.
  void Abandon();

 private:
  PointProcess(const SweepRun& run, const PreparedPoint& point)
      : run_(&run), point_(&point) {}

  absl::Status StartNextStep();
  void RemoveLargeFiles() const;
  absl::StatusOr<PointRecord> Finish(int exit_code, std::string reason,
                                     bool illegal);

  const SweepRun* run_;
  const PreparedPoint* point_;
  size_t step_ = 0;  // Index of the next step to start.
  pid_t pid_ = 0;
  std::chrono::steady_clock::time_point begin_ =
      std::chrono::steady_clock::now();
  std::string kill_reason_;
  PointCost cost_;
};

// Returns the command line of a step as words, including the options that name
// its output and the files that earlier steps wrote.
std::vector<std::string> StepCommand(const SweepRun& run,
                                     const PreparedPoint& point, size_t step);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_POINT_PROCESS_H_
