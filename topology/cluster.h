// Draws clusters of servers below one, two or three tiers of switches.
//
//   core     cores of group j: linked to the j-th PSW of every pod
//   PSW      linked to every ASW of its pod (dual plane: of its plane)
//   ASW      rail-optimised: GPU k of each server goes to ASW k of its segment;
//            otherwise neighbouring GPUs share an ASW. Dual ToR: two of them
//   GPU      linked to the NVSwitches of its server and, by its NIC, to ASWs
//
// A segment is what one set of ASWs has NIC ports for; a pod is what one set of
// PSWs connects. Node ids: GPUs, NVSwitches, ASWs, PSWs, cores, each pod by
// pod; in dual ToR the ASWs of plane 1 come before those of plane 2.
//
// Source: the layouts and the order of links are those of the topology
// generator of SimAI 1.6; pods beyond the first are ours.

#ifndef TOPOLOGY_CLUSTER_H_
#define TOPOLOGY_CLUSTER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace astra {

// What there is to choose. The counts are per pod, but for `num_gpus`. Rates,
// times and the error rate stay as the user spelt them, since they are copied
// into files and file names.
struct ClusterParameters {
  int64_t num_gpus = 32;
  int64_t gpus_per_server = 8;
  int64_t nv_switches_per_server = 1;
  std::string gpu_type = "H100";

  bool rail_optimised = false;
  bool dual_tor = false;
  bool dual_plane = false;
  int64_t num_rails = 0;  // 0: one for each GPU of a server.
  int64_t nics_per_asw = 64;
  int64_t num_psws = 64;
  int64_t asws_per_psw = 64;  // The ports of a PSW: limits a pod.
  int64_t num_pods = 1;
  int64_t num_cores = 0;  // Of the whole cluster; 0: as many as keep full rate.

  std::string nvlink_bandwidth = "2880Gbps";
  std::string nvlink_latency = "0.000025ms";
  std::string bandwidth = "400Gbps";  // NIC to ASW.
  std::string asw_psw_bandwidth = "400Gbps";
  std::string psw_core_bandwidth = "400Gbps";
  std::string latency = "0.0005ms";  // Of every link but NVLink.
  std::string error_rate = "0";
};

// How many of each thing the parameters make. All are of the whole cluster,
// unless they say otherwise.
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

// Errors: InvalidArgument where numbers do not divide, contradict one another,
// or exceed the ports of a PSW; the message says which and what would fit.
absl::StatusOr<ClusterCounts> CountCluster(const ClusterParameters& parameters);

// Errors: those of CountCluster; InvalidArgument for a wrong rate, time or
// error rate, and those of TopologyBuilder::Build().
absl::StatusOr<Topology> BuildCluster(const ClusterParameters& parameters);

}  // namespace astra

#endif  // TOPOLOGY_CLUSTER_H_
