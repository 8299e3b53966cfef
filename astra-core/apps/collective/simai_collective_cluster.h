// Sets up the cluster and the NCCL that simai_collective asks about.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_CLUSTER_H_
#define ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_CLUSTER_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "astra-core/apps/collective/simai_collective_options.h"
#include "collectives/nccl/estimator.h"
#include "collectives/nccl/nccl_options.h"

namespace astra {

// Returns `nccl` with the changes that `settings` ask for: first those of the
// file, then those of the list.
//
// Errors: those of ApplyNcclOptionList, as errors of --nccl, and of
// ApplyNcclOptionFile.
absl::StatusOr<NcclOptions> ApplyNcclSettings(const NcclSettings& settings,
                                              NcclOptions nccl = {});

// Returns an estimator for the ranks of `cluster`, or for all ranks if it lists
// none.
//
// Errors: those of LoadSystem, ReadTopology, BuildSystemTopology and
// CollectiveEstimator::Create.
absl::StatusOr<CollectiveEstimator> BuildEstimator(
    const ClusterOptions& cluster, const NcclOptions& nccl);

// Returns the number of servers that the group of `cluster` spans.
size_t NumServers(const CollectiveEstimator& cluster);

// Describes the group of `options`, its system and NCCL, as they were
// understood, in lines that are comments.
std::string DescribeCluster(const ClusterOptions& options,
                            const CollectiveEstimator& cluster,
                            const NcclOptions& nccl);

// Returns the systems of the library as a table.
std::string ListSystems();

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_CLUSTER_H_
