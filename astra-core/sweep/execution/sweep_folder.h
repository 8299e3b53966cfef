// The folder of a sweep and the files in it:
//
//   sweep.db       the plan and its results (SweepStore)
//   sweep.yaml     the sweep file as last run
//   sweep.json     where the sweep file was
//   sweep.lock     held by the process that collects results
//   report.html    the comparison
//   inputs/        topologies and workloads, named by the key of their step
//   points/KEY/    one run: its result files, log.txt, record.json
//   slurm/N/       the N-th job array: sweep.yaml, tasks, job.sh, logs

#ifndef ASTRA_CORE_SWEEP_EXECUTION_SWEEP_FOLDER_H_
#define ASTRA_CORE_SWEEP_EXECUTION_SWEEP_FOLDER_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "astra-core/sweep/point_commands.h"

namespace astra {

class SweepFolder {
 public:
  // `path` becomes absolute, so that tasks on other hosts find the folder.
  explicit SweepFolder(const std::string& path);

  // Creates the folder and its sub-folders where they do not exist.
  //
  // Errors: PermissionDenied "PATH: reason".
  absl::Status Create() const;

  const std::string& path() const { return path_; }
  std::string database() const { return path_ + "/sweep.db"; }
  std::string sweep_file() const { return path_ + "/sweep.yaml"; }
  std::string origin_file() const { return path_ + "/sweep.json"; }
  std::string lock_file() const { return path_ + "/sweep.lock"; }
  std::string report() const { return path_ + "/report.html"; }
  // Returns the file that a step writes. The step must not be the run.
  std::string InputFile(const PointStep& step) const;
  std::string PointFolder(std::string_view key) const;
  std::string RecordFile(std::string_view key) const;

 private:
  std::string path_;
};

// Holds a sweep's folder for one process at a time, also on a shared file
// system (POSIX record locks). The lock ends with the process, however the
// process ends.
class SweepLock {
 public:
  // Takes the lock. Returns none where another process holds it, and sets
  // `holder` to "PID on HOST".
  //
  // Errors: PermissionDenied "PATH: reason".
  static absl::StatusOr<std::optional<SweepLock>> Take(
      const SweepFolder& folder, std::string* holder);

  ~SweepLock();
  SweepLock(SweepLock&& other) noexcept
      : file_(std::exchange(other.file_, -1)) {}
  SweepLock& operator=(SweepLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }

 private:
  explicit SweepLock(int file) : file_(file) {}

  int file_;
};

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_SWEEP_FOLDER_H_
