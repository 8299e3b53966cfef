// The part of a cluster on which a job runs: some of its servers, with all
// switches that connect them. The job knows only this part, as if it were a
// cluster of its own, and its messages are then sent on the whole.

#ifndef ASTRA_CORE_SERVING_FABRIC_JOB_TOPOLOGY_H_
#define ASTRA_CORE_SERVING_FABRIC_JOB_TOPOLOGY_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "topology/topology.h"

namespace astra {

struct JobTopology {
  Topology topology;
  std::vector<NodeId> nodes;  // Node of the whole, by node of the part.
};

// Returns the `num_gpus` GPUs of `whole` from `first_gpu` on, which are those
// of whole servers. Switches keep their order.
//
// Errors: InvalidArgument for GPUs that `whole` does not have, or that are not
// whole servers; those of TopologyBuilder.
absl::StatusOr<JobTopology> PartOfCluster(const Topology& whole,
                                          uint32_t first_gpu,
                                          uint32_t num_gpus);

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_FABRIC_JOB_TOPOLOGY_H_
