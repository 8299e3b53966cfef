// A cluster described by a few rates, for runs without a topology file.
//
//   switch        one for the cluster, never congested within
//   NIC switches  only where GPUs share NICs: one for each NIC
//   GPU           linked to the NVSwitch of its server, and by its NICs upwards
//
// Delays are gen_topo's defaults unless given.

#ifndef TOPOLOGY_TWO_LEVEL_CLUSTER_H_
#define TOPOLOGY_TWO_LEVEL_CLUSTER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace astra {

struct TwoLevelParameters {
  int64_t num_gpus = 0;
  int64_t gpus_per_server = 0;
  int64_t nics_per_server = 0;
  double nvlink_gb_per_s =
      0;                    // Of a GPU, each way; unused with one per server.
  double nic_gb_per_s = 0;  // Of a NIC, each way.
  std::string gpu_type;
  std::string nvlink_latency = "25ns";
  std::string network_latency = "500ns";
};

// With more NICs than GPUs in a server, a GPU has the rate of several NICs.
//
// Errors: InvalidArgument if the GPUs do not divide into servers, the GPUs and
// NICs of a server do not divide one another, or a number is not above 0.
absl::StatusOr<Topology> BuildTwoLevelCluster(const TwoLevelParameters& p);

}  // namespace astra

#endif  // TOPOLOGY_TWO_LEVEL_CLUSTER_H_
