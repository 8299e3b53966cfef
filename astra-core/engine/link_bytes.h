// The bytes that the collectives of a program put on links, in closed form.

#ifndef ASTRA_CORE_ENGINE_LINK_BYTES_H_
#define ASTRA_CORE_ENGINE_LINK_BYTES_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/rank_program.h"
#include "topology/routes.h"
#include "workload/parallel_plan.h"

namespace astra {

// Returns, by link, the bytes of all collectives of all ranks, laid on links as
// `costs` says. A collective that repeats counts each time.
//
// Errors: those of LayOnLinks and CollectiveTimes.
absl::StatusOr<std::vector<double>> LinkBytes(
    const RankProgram& program, const ParallelPlan& plan,
    const PipelineWiring& wiring, const CollectiveCosts& costs,
    const std::optional<NcclSystem>& nccl, Routes& routes);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_LINK_BYTES_H_
