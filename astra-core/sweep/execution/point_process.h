// A point that runs: its steps one after the other, each a process.

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

// Steps that make an input are left out where the file is there already. What
// the programs print goes to points/KEY/log.txt, which also says what result
// files were removed as too large. The processes are killed with
// the one that started them, and never hold its terminal.
class PointProcess {
 public:
  // Starts the first step. `run` and `point` must outlive it.
  //
  // Errors: PermissionDenied or Internal where files or processes cannot be
  // made.
  static absl::StatusOr<PointProcess> Start(const SweepRun& run,
                                            const PreparedPoint& point);

  // The step that runs now.
  pid_t pid() const { return pid_; }
  const PreparedPoint& point() const { return *point_; }
  std::chrono::steady_clock::time_point begin() const { return begin_; }

  // Ends the step that runs now, for `reason`, which the record then gives.
  void Kill(std::string reason);

  // To be called once wait4() has said that pid() ended. Starts the next step,
  // or returns what came of the point, which is then on disk.
  absl::StatusOr<std::optional<PointRecord>> Ended(int wait_status,
                                                   const rusage& usage);

  // Whether Kill() was called.
  bool was_told_to_end() const { return !kill_reason_.empty(); }

  // Gives up: kills what runs, waits for its end and records nothing.
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
  size_t step_ = 0;  // The next to start.
  pid_t pid_ = 0;
  std::chrono::steady_clock::time_point begin_ =
      std::chrono::steady_clock::now();
  std::string kill_reason_;
  PointCost cost_;
};

// The words of the command line of a step, with its outputs and the files of
// the steps before it.
std::vector<std::string> StepCommand(const SweepRun& run,
                                     const PreparedPoint& point, size_t step);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_POINT_PROCESS_H_
