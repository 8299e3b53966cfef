// The results store: one SQLite database for each sweep, written by one process
// at a time, the one that holds the folder's lock.
//
// clang-format off
//   sweep(name, value)              what the sweep is called, its objectives, ...
//   points(number, key, variables)  the plan, a row for each point
//   runs(key, state, ...)           what came of each key, of earlier plans too
//   results                         a view of both: a column for each variable and metric
// clang-format on
//
// It is in WAL mode: others read while one writes, on the same machine. Every
// change is a transaction, synced, so that a kill at any moment leaves what was
// recorded before it.

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
  // Opens the database, or makes it.
  //
  // Errors: InvalidArgument "PATH: ..." for a file that is no such database, is
  // damaged or of another format; PermissionDenied.
  static absl::StatusOr<SweepStore> Open(const std::string& path);

  // The same of one that is there, only to be read.
  //
  // Errors: those above, and NotFound "PATH: no such file".
  static absl::StatusOr<SweepStore> OpenToRead(const std::string& path);

  ~SweepStore();
  SweepStore(SweepStore&&) noexcept;
  SweepStore& operator=(SweepStore&&) = delete;

  // Replaces the plan; what has run is kept.
  //
  // Errors: InvalidArgument where the database is that of a sweep of another
  // name; Internal "PATH: ..." where it cannot be written.
  absl::Status SetPlan(const Sweep& sweep, const SweepPoints& points,
                       absl::Span<const PreparedPoint> prepared);

  // Records what came of a run, in place of what came of it before; adds up the
  // attempts. In one transaction for all.
  absl::Status Add(absl::Span<const PointRecord> records);

  // Makes those of the plan that failed pending again, and returns their keys;
  // their attempts stay counted.
  absl::StatusOr<std::vector<std::string>> ForgetFailed();

  // The keys of the plan that have not run.
  absl::StatusOr<std::set<std::string>> PendingKeys() const;

  // How many points of the plan failed.
  absl::StatusOr<size_t> CountFailed() const;

  // The plan with what came of it. Metrics of the sweep file are computed here,
  // after those of the runs; one that cannot be computed is absent, with a
  // warning. What it requires is applied here, too.
  absl::StatusOr<SweepTable> Table() const;

 private:
  class Connection;

  explicit SweepStore(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_SWEEP_STORE_H_
