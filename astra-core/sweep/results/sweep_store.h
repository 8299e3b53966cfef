// The results store: one SQLite database for each sweep. Only one process
// writes to it at a time, the one that holds the folder's lock.
//
// clang-format off
//   sweep(name, value)              the name of the sweep, its objectives, ...
//   points(number, key, variables)  the plan: a row for each point
//   runs(key, state, ...)           results by key, also of earlier plans
//   results                         view of both: a column for each variable
//                                   and each metric
// clang-format on
//
// The database is in WAL mode: processes on the same machine can read while one
// writes. Every change is a synced transaction, so a kill at any moment leaves
// everything that was recorded before it.

#ifndef ASTRA_CORE_SWEEP_RESULTS_SWEEP_STORE_H_
#define ASTRA_CORE_SWEEP_RESULTS_SWEEP_STORE_H_

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/sweep/execution/point_record.h"
#include "astra-core/sweep/point_commands.h"
#include "astra-core/sweep/results/sweep_table.h"

namespace astra {

class SweepStore {
 public:
  // Opens the database, or creates it.
  //
  // Errors: InvalidArgument "PATH: ..." for a file that is not such a database,
  // is damaged or has another format; PermissionDenied.
  static absl::StatusOr<SweepStore> Open(const std::string& path);

  // Opens an existing database for reading only.
  //
  // Errors: the errors of Open(), and NotFound "PATH: no such file".
  static absl::StatusOr<SweepStore> OpenToRead(const std::string& path);

  ~SweepStore();
  SweepStore(SweepStore&&) noexcept;
  SweepStore& operator=(SweepStore&&) = delete;

  // Replaces the plan and keeps the results of all runs.
  //
  // Errors: InvalidArgument where the database belongs to a sweep of another
  // name; Internal "PATH: ..." where it cannot be written.
  absl::Status SetPlan(const Sweep& sweep, const SweepPoints& points,
                       absl::Span<const PreparedPoint> prepared);

  // Records the results of runs in one transaction. A new result replaces the
  // old result of the same key; the attempts of both are added up.
  absl::Status Add(absl::Span<const PointRecord> records);

  // Makes the failed points of the plan pending again and returns their keys.
  // Their attempts stay counted.
  absl::StatusOr<std::vector<std::string>> ForgetFailed();

  // Returns the keys of the plan that have not run.
  absl::StatusOr<std::set<std::string>> PendingKeys() const;

  // Returns how many points of the plan failed.
  absl::StatusOr<size_t> CountFailed() const;

  // Returns the plan with its results. This function computes the metrics of
  // the sweep file, which follow those of the runs, and applies its
  // requirements. A metric that cannot be computed is absent, with a warning.
  absl::StatusOr<SweepTable> Table() const;

 private:
  class Connection;

  explicit SweepStore(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_SWEEP_STORE_H_
