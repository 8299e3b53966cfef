#include "astra-core/apps/gen_topo_discovered.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/gen_topo_texts.h"
#include "astra-core/apps/server_types.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/files.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "topology/discovered/discovered_fabric.h"
#include "topology/discovered/fabric_hosts.h"
#include "topology/discovered/ibnetdiscover.h"

namespace astra {
namespace {

// Puts a value of the command line into the place of one of a type of server.
template <class Value>
void PutInPlace(std::string_view option, const std::optional<Value>& value,
                const ServerType& type, Value* place, Warnings* warnings) {
  if (!value || *value == *place) return;
  if (!type.name.empty()) {
    warnings->push_back(fmt::format("--{}: {} in place of {} of {}", option,
                                    *value, *place, type.name));
  }
  *place = *value;
}

absl::StatusOr<ServerType> FindType(const DiscoveredOptions& options,
                                    Warnings* warnings) {
  const ServerTypeSources sources = ServerTypesFor("", warnings);
  if (options.nccl_topology) {
    return sources.nccl_topology(*options.nccl_topology);
  }
  if (options.server_type) return sources.named(*options.server_type);
  ServerType type;
  type.nic = NicSpec().cable;
  return type;
}

absl::Status PutGpusInPlace(const DiscoveredOptions& options, ServerType* type,
                            Warnings* warnings) {
  auto gpus = static_cast<int64_t>(type->server.gpus);
  PutInPlace("gpus-per-server", options.gpus_per_server, *type, &gpus,
             warnings);
  if (!type->name.empty() && gpus > type->server.gpus) {
    return absl::InvalidArgumentError(
        fmt::format("--gpus-per-server is {}, but {} has {} GPUs", gpus,
                    type->name, type->server.gpus));
  }
  KeepGpus(static_cast<uint32_t>(gpus), &type->server);
  return absl::OkStatus();
}

// Returns the type of server, with what the command line says in place.
absl::StatusOr<ServerType> ReadType(const DiscoveredOptions& options,
                                    Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(ServerType type, FindType(options, warnings));
  ASTRA_RETURN_IF_ERROR(PutGpusInPlace(options, &type, warnings));
  ServerSpec& server = type.server;
  if ((options.nvlink_rate || options.nvlink_latency) &&
      (server.nv_switches == 0 || !server.gpu_cables.empty())) {
    return absl::InvalidArgumentError(
        fmt::format("--{} has no effect: servers have no NVSwitch",
                    options.nvlink_rate ? "nvlink-bw" : "nv-latency"));
  }
  PutInPlace("gpu-type", options.gpu_type, type, &server.gpu_type, warnings);
  PutInPlace("nvlink-bw", options.nvlink_rate, type, &server.nvlink.rate,
             warnings);
  PutInPlace("nv-latency", options.nvlink_latency, type, &server.nvlink.latency,
             warnings);
  PutInPlace("latency", options.latency, type, &type.nic.latency, warnings);
  PutInPlace("error-rate", options.error_rate, type, &type.nic.error_rate,
             warnings);
  return type;
}

absl::StatusOr<std::vector<FabricHost>> ReadHosts(
    const std::optional<std::string>& file, std::vector<FabricHost> hosts) {
  if (!file) return hosts;
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(*file));
  std::vector<uint32_t> lines;
  ASTRA_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                         ParseHostNames(*file, contents, &lines));
  absl::StatusOr<std::vector<FabricHost>> chosen = ChooseHosts(hosts, names);
  if (chosen.ok()) return chosen;
  ASTRA_ASSIGN_OR_RETURN(const int64_t index,
                         ParseInteger("", FieldOf(chosen.status())));
  return absl::InvalidArgumentError(
      fmt::format("{}:{}:1: {}", *file, lines[static_cast<size_t>(index)],
                  std::string(chosen.status().message())));
}

// Returns the value of an option, checked.
absl::StatusOr<std::optional<std::string>> Text(const CommandLine& flags,
                                                std::string_view option) {
  std::optional<std::string> text = flags.value(option);
  if (text) ASTRA_RETURN_IF_ERROR(CheckTopologyText(option, *text));
  return text;
}

}  // namespace

bool HasEffectOnDiscovered(const OptionSpec& option) {
  constexpr std::string_view kNames[] = {
      "ibnetdiscover",   "server-type", "nccl-topology", "hosts",
      "gpus-per-server", "gpu-type",    "nvlink-bw",     "nv-latency",
      "latency",         "error-rate"};
  return option.group == "Output" ||
         std::find(std::begin(kNames), std::end(kNames), option.name) !=
             std::end(kNames);
}

absl::StatusOr<DiscoveredOptions> ReadDiscoveredOptions(
    const CommandLine& flags) {
  DiscoveredOptions options;
  options.file = *flags.value("ibnetdiscover");
  options.server_type = flags.value("server-type");
  options.nccl_topology = flags.value("nccl-topology");
  if (options.server_type && options.nccl_topology) {
    return absl::InvalidArgumentError(
        "--server-type has no effect beside --nccl-topology");
  }
  options.hosts = flags.value("hosts");
  if (flags.has("gpus-per-server")) {
    ASTRA_ASSIGN_OR_RETURN(
        options.gpus_per_server,
        flags.integer("gpus-per-server", 0, 1, ServerSpec::kMaxGpus));
  }
  ASTRA_ASSIGN_OR_RETURN(options.gpu_type, Text(flags, "gpu-type"));
  ASTRA_ASSIGN_OR_RETURN(options.nvlink_rate, Text(flags, "nvlink-bw"));
  ASTRA_ASSIGN_OR_RETURN(options.nvlink_latency, Text(flags, "nv-latency"));
  ASTRA_ASSIGN_OR_RETURN(options.latency, Text(flags, "latency"));
  ASTRA_ASSIGN_OR_RETURN(options.error_rate, Text(flags, "error-rate"));
  return options;
}

absl::StatusOr<Topology> DrawDiscovered(const DiscoveredOptions& options,
                                        Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(ServerType type, ReadType(options, warnings));
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(options.file));
  ASTRA_ASSIGN_OR_RETURN(const IbFabric fabric,
                         ParseIbnetdiscover(options.file, contents));
  ASTRA_ASSIGN_OR_RETURN(
      std::vector<FabricHost> hosts,
      ReadHosts(options.hosts, FindHosts(options.file, fabric, warnings)));
  if (type.name.empty()) {
    type.name = "a server";
    AddNicsOfMostHosts(hosts, &type.server);
  }
  hosts = JoinHostsOfRacks(std::move(hosts), type.server.nics.size(),
                           options.file, warnings);
  ASTRA_ASSIGN_OR_RETURN(
      hosts, MatchNics(std::move(hosts), type, options.hosts.has_value(),
                       options.file, fabric, warnings));
  return DrawDiscoveredFabric(options.file, fabric, hosts, type.server,
                              type.nic, warnings);
}

}  // namespace astra
