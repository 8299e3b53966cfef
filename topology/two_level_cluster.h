// Builds a cluster from a few rates, for runs without a topology file.
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
  // Rate of a GPU each way, in GB/s. It is unused if servers have one GPU.
  double nvlink_gb_per_s = 0;
  double nic_gb_per_s = 0;  // Rate of a NIC each way, in GB/s.
  std::string gpu_type;
  std::string nvlink_latency = "25ns";
  std::string network_latency = "500ns";
};

// Where a server has more NICs than GPUs, a GPU has the rate of several NICs.
//
// Errors: InvalidArgument if the GPUs do not divide into servers, the GPUs and
// NICs of a server do not divide one another, or a number is not above 0.
absl::StatusOr<Topology> BuildTwoLevelCluster(const TwoLevelParameters& p);

}  // namespace astra

#endif  // TOPOLOGY_TWO_LEVEL_CLUSTER_H_
