// Reads the files of --measured: times of collectives that somebody measured,
// which go before NCCL's model.

#ifndef ASTRA_CORE_APPS_MEASURED_INPUTS_H_
#define ASTRA_CORE_APPS_MEASURED_INPUTS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/log.h"
#include "astra-core/engine/communicators.h"
#include "collectives/launch.h"
#include "collectives/measured_curve.h"
#include "topology/topology.h"
#include "workload/parallel_plan.h"

namespace astra {

// Returns the files of a list such as "a.csv,b.log"; none of nullopt.
std::vector<std::string> FilesOf(const std::optional<std::string>& list);

// Reads the files for a system with the GPU `gpu`. Rows of another launch than
// `launch` are left out, if it is given. Warns of whatever is left out. Null
// without files.
//
// Errors: those of MeasuredTimes::Read.
absl::StatusOr<std::shared_ptr<const MeasuredCurves>> ReadMeasuredCurves(
    absl::Span<const std::string> files, const std::string& gpu,
    std::optional<Launch> launch, bool symmetric, Warnings* warnings);

// Returns what a group of these ranks looks like in a table: servers, and GPUs
// of each; nullopt if the servers have different numbers of them.
std::optional<MeasuredGroup> MeasuredGroupOf(CollectiveKind kind,
                                             absl::Span<const RankId> ranks,
                                             const Topology& topology);

// Warns if nothing was measured for any collective that is used; it names one
// of these.
void WarnOfUnusedMeasurements(absl::Span<const std::string> files,
                              const MeasuredCurves& curves,
                              const CollectiveSizes& used,
                              const ParallelPlan& plan,
                              const Topology& topology, Warnings& warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_MEASURED_INPUTS_H_
