// Plans a sweep: reads its points and its folder from a sweep file, or from the
// folder of an earlier run.

#ifndef ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_PLAN_H_
#define ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_PLAN_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/sweep/simai_sweep_options.h"
#include "astra-core/sweep/execution/scheduler.h"
#include "astra-core/sweep/execution/sweep_folder.h"
#include "astra-core/sweep/point_commands.h"
#include "astra-core/sweep/results/sweep_store.h"
#include "astra-core/sweep/sweep.h"
#include "astra-core/sweep/sweep_points.h"

namespace astra {

struct PlannedSweep {
  std::string file;  // Path of the sweep file.
  Sweep sweep;
  SweepPoints points;
  std::vector<PreparedPoint> prepared;  // One for each of points.points.
  SweepFolder folder;
  std::string version;  // Version of the programs.
};

// Plans the sweep that `operand`, a sweep file, describes.
//
// Errors: those of ReadFile, ReadSweep, ExpandSweep and PreparePoints.
absl::StatusOr<PlannedSweep> PlanSweepFile(const std::string& operand,
                                           const SweepRunOptions& options);

// Plans the sweep whose file KeepSweepFile() left in the folder `operand`.
// Fields of `options` that the user did not give are set to the values of the
// earlier run.
//
// Errors: those of PlanSweepFile; InvalidArgument if `operand` is not such a
// folder.
absl::StatusOr<PlannedSweep> PlanSweepFolder(const std::string& operand,
                                             SweepRunOptions* options);

// Writes the sweep file, its place and the options of the run to the folder.
//
// Errors: those of WriteFile.
absl::Status KeepSweepFile(const PlannedSweep& plan,
                           const SweepRunOptions& options);

// Checks the folder. Errors: InvalidArgument if it holds a sweep of another
// name.
absl::Status CheckSweepOfFolder(const PlannedSweep& plan);

// Return the points to run, each key once, in the order of their numbers: the
// points whose keys are in `keys`, or whose numbers are in `numbers`.
std::vector<const PreparedPoint*> PointsWithKeys(
    const PlannedSweep& plan, const std::set<std::string>& keys);
absl::StatusOr<std::vector<const PreparedPoint*>> PointsWithNumbers(
    const PlannedSweep& plan, absl::Span<const uint32_t> numbers);

// Returns the input of a scheduler. The plan must outlive it.
SweepRun RunOf(const PlannedSweep& plan, const SweepRunOptions& options,
               absl::Span<const PreparedPoint* const> points);

// Returns the record of a run; none if the run is not over. An invalid record
// counts as none, and a line on stderr names it.
std::optional<PointRecord> ReadRecordOrWarn(const SweepFolder& folder,
                                            std::string_view key);

// Moves the records that tasks have written for the pending points into the
// store.
//
// Errors: those of the store.
absl::Status CollectRecords(const SweepFolder& folder, SweepStore& store);

// Opens the store of the sweep in the folder `operand`. Collects the records of
// tasks first, unless another process holds the folder.
//
// Errors: InvalidArgument if `operand` is not the folder of a sweep; the errors
// of CollectRecords.
absl::StatusOr<SweepStore> OpenCollected(const std::string& operand);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_PLAN_H_
