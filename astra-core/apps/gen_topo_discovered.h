// gen_topo --ibnetdiscover: the topology of an InfiniBand fabric as it is.

#ifndef ASTRA_CORE_APPS_GEN_TOPO_DISCOVERED_H_
#define ASTRA_CORE_APPS_GEN_TOPO_DISCOVERED_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"
#include "topology/topology.h"

namespace astra {

struct DiscoveredOptions {
  std::string file;  // What ibnetdiscover printed.
  // Type of the servers: a system, or a topology file of NCCL.
  std::optional<std::string> server_type;
  std::optional<std::string> nccl_topology;
  std::optional<std::string> hosts;  // File of the hosts, in order of ranks.
  // These values replace those of the type of server.
  std::optional<int64_t> gpus_per_server;
  std::optional<std::string> gpu_type;
  std::optional<std::string> nvlink_rate;
  std::optional<std::string> nvlink_latency;
  std::optional<std::string> latency;  // Of all cables of the fabric.
  std::optional<std::string> error_rate;
};

// Returns whether --ibnetdiscover takes this option beside it.
bool HasEffectOnDiscovered(const OptionSpec& option);

// Reads the options beside --ibnetdiscover, which must be given.
//
// Errors: InvalidArgument for a wrong value, and for --server-type beside
// --nccl-topology.
absl::StatusOr<DiscoveredOptions> ReadDiscoveredOptions(
    const CommandLine& flags);

// Reads the files and draws the fabric.
//
// Errors: those of the readers and of DrawDiscoveredFabric().
absl::StatusOr<Topology> DrawDiscovered(const DiscoveredOptions& options,
                                        Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GEN_TOPO_DISCOVERED_H_
