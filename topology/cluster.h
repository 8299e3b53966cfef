// Builds clusters of servers below one, two or three tiers of switches.
//
// clang-format off
//   core     cores of group j: linked to the j-th PSW of every pod
//   PSW      linked to every ASW of its pod (dual plane: of its plane)
//   ASW      rail-optimised: GPU k of each server goes to ASW k of its segment;
//            otherwise neighbouring GPUs share an ASW. Dual ToR: two of them
//   GPU      linked to the NVSwitches of its server and, by its NIC, to ASWs
// clang-format on
//
// A segment is the servers for which one set of ASWs has ports; a pod is what
// one set of PSWs connects. Node ids are in the order GPUs, NVSwitches, ASWs,
// PSWs, cores, and pod by pod within each. In dual ToR the ASWs of plane 1 come
// before those of plane 2.
//
// Source: the layouts and the order of links are those of the topology
// generator of SimAI 1.6. Pods beyond the first are our addition.

#ifndef TOPOLOGY_CLUSTER_H_
#define TOPOLOGY_CLUSTER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace astra {

// Parameters of a cluster. Counts are per pod, except `num_gpus` and
// `num_cores`. Rates, times and the error rate keep the user's spelling,
// because they are copied into files and file names.
struct ClusterParameters {
  int64_t num_gpus = 32;
  int64_t gpus_per_server = 8;
  int64_t nv_switches_per_server = 1;
  std::string gpu_type = "H100";

  bool rail_optimised = false;
  bool dual_tor = false;
  bool dual_plane = false;
  int64_t num_rails = 0;  // Rails; 0: one for each GPU of a server.
  int64_t nics_per_asw = 64;
  int64_t num_psws = 64;
  int64_t asws_per_psw = 64;  // Ports of a PSW; they limit the size of a pod.
  int64_t num_pods = 1;
  // Cores of the whole cluster; 0: enough for full rate.
  int64_t num_cores = 0;

  std::string nvlink_bandwidth = "2880Gbps";
  std::string nvlink_latency = "0.000025ms";
  std::string bandwidth = "400Gbps";  // Rate from a NIC to its ASW.
  std::string asw_psw_bandwidth = "400Gbps";
  std::string psw_core_bandwidth = "400Gbps";
  std::string latency = "0.0005ms";  // Delay of every link except NVLink.
  std::string error_rate = "0";
};

// Numbers of nodes and cables that the parameters give, for the whole cluster
// unless the name says otherwise.
struct ClusterCounts {
  int64_t num_servers = 0;
  int64_t num_nv_switches = 0;
  int64_t num_segments = 0;
  int64_t num_asws = 0;
  int64_t num_psws = 0;
  int64_t num_cores = 0;
  int64_t num_cables = 0;
  int64_t asws_per_pod = 0;
  int64_t gpus_per_pod = 0;
};

// Counts the nodes and cables of a cluster.
//
// Errors: InvalidArgument if numbers do not divide, contradict one another, or
// exceed the ports of a PSW; the message says which numbers, and what would
// fit.
absl::StatusOr<ClusterCounts> CountCluster(const ClusterParameters& parameters);

// Builds the cluster. Errors: those of CountCluster and of
// TopologyBuilder::Build(), and InvalidArgument for a wrong rate, time or error
// rate.
absl::StatusOr<Topology> BuildCluster(const ClusterParameters& parameters);

}  // namespace astra

#endif  // TOPOLOGY_CLUSTER_H_
