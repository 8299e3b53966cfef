// The part of a cluster on which a job runs: some of its GPUs, in the order of
// the job's ranks, with the switches that lead from them to anywhere and the
// storage servers that these switches lead to. The job
// knows only this part, as if it were a cluster of its own, and its messages
// are then sent on the whole.

#ifndef TOPOLOGY_CLUSTER_PART_H_
#define TOPOLOGY_CLUSTER_PART_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "topology/topology.h"

namespace astra {

struct ClusterPart {
  Topology topology;
  std::vector<NodeId> nodes;  // Node of the whole, by node of the part.
  std::vector<LinkId> links;  // Link of the whole, by link of the part.
};

// Returns the part in which rank i runs on GPU `gpus[i]` of `whole`. Each
// `gpus_per_server` successive ranks are one server of the part. Switches and
// storage servers keep their order.
//
// Errors: InvalidArgument if the ranks do not divide into servers; for GPUs
// that `whole` does not have or that are named twice; for successive ranks on
// different servers of `whole`; for servers whose ranks are on other GPUs of
// the server, or in another order, than those of the first, since a rail is the
// position of a GPU in its server; those of TopologyBuilder.
absl::StatusOr<ClusterPart> PartOfCluster(const Topology& whole,
                                          absl::Span<const uint32_t> gpus,
                                          uint32_t gpus_per_server);

// Returns the part of the `num_gpus` GPUs from `first_gpu` on.
//
// Errors: InvalidArgument unless these are whole servers of `whole`.
absl::StatusOr<ClusterPart> RangeOfCluster(const Topology& whole,
                                           uint32_t first_gpu,
                                           uint32_t num_gpus);

}  // namespace astra

#endif  // TOPOLOGY_CLUSTER_PART_H_
