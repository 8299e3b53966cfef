// Builds the topology of a system from its description, and matches systems and
// topologies.

#ifndef COLLECTIVES_NCCL_SYSTEM_TOPOLOGY_H_
#define COLLECTIVES_NCCL_SYSTEM_TOPOLOGY_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collectives/systems/system_spec.h"
#include "topology/topology.h"

namespace astra {

// Returns whether an NVLink domain of `domain` GPUs is a rack, whose nodes are
// only parts of it, and no server.
bool IsRack(uint32_t domain);

// Returns how many GPUs of each NVLink domain a job of `num_gpus` takes: as
// many as the domain has, or, if that does not come out even on a rack, as many
// as come out on the fewest racks: 64 of 72 for 128 GPUs. Launchers want
// equally many GPUs of each domain. Where less than half of each would come
// out, it stays what the domain has, and the GPUs do not divide.
uint32_t GpusOfDomain(uint32_t num_gpus, uint32_t domain);

// Returns `num_gpus` GPUs of `system`, `gpus_per_server` on each server, with
// their NICs, below one switch that is never congested. If a server has fewer
// NICs than GPUs, neighbours share one.
//
// Errors: InvalidArgument if the numbers do not divide, there are more GPUs in
// a server or more servers than the system has, or there are several servers
// and no fabric.
absl::StatusOr<Topology> BuildSystemTopology(const SystemSpec& system,
                                             uint32_t num_gpus,
                                             uint32_t gpus_per_server);

// Checks that `topology`, read from `file`, can be a topology of `system`: if
// it names its GPUs, they must be those of the system, as "H100" and "h100-sxm"
// are.
//
// Errors: InvalidArgument that names both.
absl::Status CheckGpus(const SystemSpec& system, const Topology& topology,
                       std::string_view file);

// Returns the system to which `topology` most likely belongs, for callers that
// were given none: the only one of the library with its GPUs, or else the one
// that NVIDIA builds, which is named after them: dgx-h100, hgx-h20, h800,
// h100-pcie.
//
// Errors: InvalidArgument, with what to give, if there is none, or if there are
// several and none has such a name.
absl::StatusOr<SystemSpec> DeriveSystem(const Topology& topology);

// The same for GPUs that are called `gpu_type`.
absl::StatusOr<SystemSpec> SystemOfGpu(std::string_view gpu_type);

}  // namespace astra

#endif  // COLLECTIVES_NCCL_SYSTEM_TOPOLOGY_H_
