// The topology of a system that is described without one.

#ifndef COLLECTIVES_NCCL_SYSTEM_TOPOLOGY_H_
#define COLLECTIVES_NCCL_SYSTEM_TOPOLOGY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "collectives/systems/system_spec.h"
#include "topology/topology.h"

namespace astra {

// `num_gpus` GPUs of `system`, `gpus_per_server` on each server, with the NICs
// that belong to them, below one switch that is never congested. Where a
// server has fewer NICs than GPUs, neighbours share one.
//
// Errors: InvalidArgument if the numbers do not divide, the servers are larger
// or more than the system has, or there are several and no fabric.
absl::StatusOr<Topology> BuildSystemTopology(const SystemSpec& system,
                                             uint32_t num_gpus,
                                             uint32_t gpus_per_server);

}  // namespace astra

#endif  // COLLECTIVES_NCCL_SYSTEM_TOPOLOGY_H_
