// Adds storage servers to a cluster: servers without GPUs on the fabric of the
// training job, which write checkpoints and serve its data.
//
//   StorageSpec spec{.servers = 4, .nics = 2, .cable = {"200Gbps"}};
//   ASTRA_ASSIGN_OR_RETURN(topology, WithStorage(topology, spec));
//
// Model. Each NIC is a cable to a switch of one tier. The NICs take the
// switches of this tier in turn, so NIC i of server s has switch (s x nics + i)
// modulo their number, in the order of the topology. A storage server has no
// rate but those of its NICs, so that of its disks belongs there.

#ifndef TOPOLOGY_STORAGE_H_
#define TOPOLOGY_STORAGE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "topology/fabrics/cable.h"
#include "topology/topology.h"

namespace astra {

struct StorageSpec {
  static constexpr uint32_t kMaxServers = 65'536;
  static constexpr uint32_t kMaxNics = 64;
  static constexpr uint32_t kMaxTier = 254;

  uint32_t servers = 0;
  uint32_t nics = 1;  // Of each server, each to another switch.
  CableSpec cable;    // From a NIC to its switch.
  uint32_t tier = 1;  // Of the switches; 1: the leaves.
};

// Returns `topology` with the storage servers of `spec` behind its other nodes,
// whose numbers stay. Requires a topology without storage servers.
//
// Errors: InvalidArgument if no switch is of the tier, or fewer than `nics`;
// those of TopologyBuilder.
absl::StatusOr<Topology> WithStorage(const Topology& topology,
                                     const StorageSpec& spec);

}  // namespace astra

#endif  // TOPOLOGY_STORAGE_H_
