// A sweep with its points and its folder, from a sweep file or from the folder
// of an earlier run.

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
  std::string file;  // The sweep file.
  Sweep sweep;
  SweepPoints points;
  std::vector<PreparedPoint> prepared;  // One for each of points.points.
  SweepFolder folder;
  std::string version;  // Of the programs.
};

// Plans what `operand`, a sweep file, describes.
//
// Errors: those of ReadFile, ReadSweep, ExpandSweep and PreparePoints.
absl::StatusOr<PlannedSweep> PlanSweepFile(const std::string& operand,
                                           const SweepRunOptions& options);

// Plans what the sweep file in the folder `operand` describes, as
// KeepSweepFile() left it; what it was run with is put into `options`, where
// these do not say otherwise.
//
// Errors: those above; InvalidArgument for what is no such folder.
absl::StatusOr<PlannedSweep> PlanSweepFolder(const std::string& operand,
                                             SweepRunOptions* options);

// Keeps the sweep file, where it was and what it is run with in the folder.
//
// Errors: those of WriteFile.
absl::Status KeepSweepFile(const PlannedSweep& plan,
                           const SweepRunOptions& options);

// Errors: InvalidArgument where the folder holds a sweep of another name.
absl::Status CheckSweepOfFolder(const PlannedSweep& plan);

// The points to run, each key once, in the order of their numbers: those whose
// keys are in `keys`, or whose numbers are in `numbers`.
std::vector<const PreparedPoint*> PointsWithKeys(
    const PlannedSweep& plan, const std::set<std::string>& keys);
absl::StatusOr<std::vector<const PreparedPoint*>> PointsWithNumbers(
    const PlannedSweep& plan, absl::Span<const uint32_t> numbers);

// What a scheduler is told. The plan must outlive it.
SweepRun RunOf(const PlannedSweep& plan, const SweepRunOptions& options,
               absl::Span<const PreparedPoint* const> points);

// The record of a run, if it is over. A record that is not right is none, and a
// line on stderr names it.
std::optional<PointRecord> ReadRecordOrWarn(const SweepFolder& folder,
                                            std::string_view key);

// Moves what tasks have recorded of the store's pending points into it.
//
// Errors: those of the store.
absl::Status CollectRecords(const SweepFolder& folder, SweepStore& store);

// Opens the store of the sweep in the folder `operand`, after collecting what
// tasks have recorded, where no other process has the folder.
//
// Errors: InvalidArgument for what is no folder of a sweep; those above.
absl::StatusOr<SweepStore> OpenCollected(const std::string& operand);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_PLAN_H_
