// The topology of a system that is described without one.

#ifndef COLLECTIVES_NCCL_SYSTEM_TOPOLOGY_H_
#define COLLECTIVES_NCCL_SYSTEM_TOPOLOGY_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
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

// Whether `topology`, read from `file`, may be one of `system`: where it names
// its GPUs, they are those of the system, as in "H100" and "h100-sxm".
//
// Errors: InvalidArgument that names both.
absl::Status CheckGpus(const SystemSpec& system, const Topology& topology,
                       std::string_view file);

// The system that `topology` most likely is one of, for whoever was given none:
// the only one of the library with its GPUs, or else the one that NVIDIA
// builds, which is named after them: dgx-h100, hgx-h20, h800.
//
// Errors: InvalidArgument, with what to give, if there is none, or several and
// none of that name.
absl::StatusOr<SystemSpec> DeriveSystem(const Topology& topology);

}  // namespace astra

#endif  // COLLECTIVES_NCCL_SYSTEM_TOPOLOGY_H_
