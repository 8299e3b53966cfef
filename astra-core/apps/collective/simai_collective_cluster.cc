#include "astra-core/apps/collective/simai_collective_cluster.h"

#include <set>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "collectives/dispatchers/dispatcher.h"
#include "collectives/inference_engines/engine_file.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"
#include "topology/topology_file.h"

namespace astra {
namespace {

constexpr double kBitsPerByte = 8;

absl::StatusOr<Topology> BuildTopology(const ClusterOptions& cluster,
                                       const SystemSpec& system) {
  if (cluster.topology_file) return ReadTopology(*cluster.topology_file);
  const uint32_t per_server = cluster.gpus_per_server.value_or(
      GpusOfDomain(cluster.num_gpus.value_or(system.gpus_per_server),
                   system.gpus_per_server));
  const uint64_t num_gpus = cluster.num_gpus.value_or(
      uint64_t{cluster.num_servers.value_or(1)} * per_server);
  if (num_gpus > Topology::kMaxNodes) {
    return absl::InvalidArgumentError(fmt::format(
        "{} GPUs: more than the limit of {}", num_gpus, Topology::kMaxNodes));
  }
  if (num_gpus < 2 && !cluster.num_gpus) {
    return absl::InvalidArgumentError(fmt::format(
        "a server of {} has {} GPU (gpus_per_server), and a collective needs 2 "
        "or more: give --servers",
        system.name, per_server));
  }
  return BuildSystemTopology(system, static_cast<uint32_t>(num_gpus),
                             per_server);
}

std::string GroupText(const CollectiveEstimator& cluster) {
  const Topology& topology = cluster.topology();
  const size_t num_servers = NumServers(cluster);
  const bool is_all = cluster.ranks().size() == topology.num_gpus();
  return fmt::format(
      "{} GPUs on {} server{}{}", cluster.ranks().size(), num_servers,
      num_servers == 1 ? "" : "s",
      is_all ? "" : fmt::format(", of {} GPUs", topology.num_gpus()));
}

std::string NicsText(const SystemSpec& system) {
  if (system.transport.name.empty()) return "no network";
  return fmt::format("{}, {} x {:.12g} Gbps per server", system.transport.name,
                     system.nics_per_server, system.nic_GBps * kBitsPerByte);
}

}  // namespace

absl::StatusOr<NcclOptions> ApplyNcclSettings(const NcclSettings& settings,
                                              NcclOptions nccl) {
  if (settings.file) {
    ASTRA_RETURN_IF_ERROR(ApplyNcclOptionFile(*settings.file, &nccl));
  }
  if (settings.list) {
    const absl::Status status = ApplyNcclOptionList(*settings.list, &nccl);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          fmt::format("--nccl: {}", std::string(status.message())));
    }
  }
  if (settings.launch) nccl.launch = *settings.launch;
  if (settings.symmetric) nccl.symmetric = true;
  if (settings.dispatcher) {
    ASTRA_ASSIGN_OR_RETURN(nccl.dispatch, ParseRouting(*settings.routing));
    ASTRA_ASSIGN_OR_RETURN(nccl.dispatch->dispatcher,
                           LoadDispatcher(*settings.dispatcher));
  }
  if (settings.engine) {
    ASTRA_ASSIGN_OR_RETURN(nccl.engine, LoadEngineOrNone(*settings.engine));
  }
  return nccl;
}

absl::StatusOr<CollectiveEstimator> BuildEstimator(
    const ClusterOptions& cluster, const NcclOptions& nccl) {
  ASTRA_ASSIGN_OR_RETURN(const SystemSpec system, LoadSystem(cluster.system));
  ASTRA_ASSIGN_OR_RETURN(Topology topology, BuildTopology(cluster, system));
  if (cluster.topology_file) {
    ASTRA_RETURN_IF_ERROR(CheckGpus(system, topology, *cluster.topology_file));
  }
  return CollectiveEstimator::Create(system, std::move(topology), cluster.ranks,
                                     nccl);
}

size_t NumServers(const CollectiveEstimator& cluster) {
  std::set<uint32_t> servers;
  for (const RankId rank : cluster.ranks()) {
    servers.insert(cluster.topology().ServerOf(rank));
  }
  return servers.size();
}

std::string DescribeCluster(const ClusterOptions& options,
                            const CollectiveEstimator& cluster,
                            const NcclOptions& nccl) {
  const SystemSpec& system = cluster.system();
  std::string text = fmt::format(
      "# group      {}\n"
      "# system     {}: {} {} per server, {} at {} GB/s each way\n"
      "# network    {}\n",
      GroupText(cluster), system.name, cluster.topology().gpus_per_server(),
      system.gpu, system.interconnect.name, system.interconnect.GBps,
      NicsText(system));
  if (options.topology_file) {
    text += fmt::format("# topology   {}, whose rates go before these\n",
                        *options.topology_file);
  }
  if (nccl.engine) {
    text += fmt::format("# engine     {} from {} on, for all-reduces\n",
                        nccl.engine->name, nccl.engine->release);
  }
  return text + fmt::format("# NCCL       {}.{}, {} launch{}\n",
                            nccl.version.major, nccl.version.minor,
                            Name(nccl.launch),
                            nccl.symmetric ? ", symmetric memory" : "");
}

std::string ListSystems() {
  std::string text =
      fmt::format("{:<20} {:<16} {:>15} {:<12} {:<12} {}\n", "name", "GPU",
                  "GPUs per server", "interconnect", "transport", "NICs");
  for (const SystemSpec& system : BundledSystems()) {
    const bool has_fabric = !system.transport.name.empty();
    text += fmt::format(
        "{:<20} {:<16} {:>15} {:<12} {:<12} {}\n", system.name, system.gpu,
        system.gpus_per_server, system.interconnect.name,
        has_fabric ? system.transport.name : "-",
        has_fabric ? fmt::format("{} x {:.12g} Gbps", system.nics_per_server,
                                 system.nic_GBps * kBitsPerByte)
                   : "-");
  }
  return text;
}

}  // namespace astra
