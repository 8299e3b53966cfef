// The algorithms of --algorithm: reads them, checks that the workload has
// collectives that they fit, and tells how many each carried out.

#ifndef ASTRA_CORE_APPS_OWN_ALGORITHMS_H_
#define ASTRA_CORE_APPS_OWN_ALGORITHMS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/base/log.h"
#include "astra-core/engine/collective_costs.h"
#include "astra-core/engine/custom_collectives.h"
#include "astra-core/engine/result.h"
#include "topology/topology.h"
#include "workload/parallel_plan.h"

namespace astra {

// Null where the options name no algorithm.
using OwnAlgorithms = std::shared_ptr<const std::vector<CustomCollective>>;

// Reads the algorithms that `options` name. Their messages cost what NCCL's
// Simple protocol costs on the system of `nccl` and the links of `topology`;
// without a system they cost nothing beside the network, as those of rings.
//
// Errors: those of ReadAlgorithm; InvalidArgument for an algorithm that fits
// none of the collectives `used` by the groups of `plan`, with what there is,
// and if --dispatcher would carry out what an algorithm does.
absl::StatusOr<OwnAlgorithms> ReadOwnAlgorithms(
    const RunOptions& options, const std::optional<NcclSystem>& nccl,
    const CollectiveSizes& used, const ParallelPlan& plan,
    const Topology& topology, Warnings* warnings);

// Returns a line for each algorithm: how many of the collectives it carried
// out.
std::string DescribeOwnAlgorithms(const OwnAlgorithms& algorithms,
                                  const SimulationResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_OWN_ALGORITHMS_H_
