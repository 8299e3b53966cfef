#include "astra-core/apps/server_types.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_path.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"
#include "topology/discovered/nccl_topology.h"

namespace astra {
namespace {

std::string TextOfGBps(double gbps) {
  constexpr double kBitsPerGigabyte = 8e9;
  return CableRateText(Bandwidth(std::llround(gbps * kBitsPerGigabyte)));
}

std::string TextOfNs(double ns) {
  constexpr double kPsPerNs = 1000;
  const int64_t ps = std::llround(ns * kPsPerNs);
  return ps % 1000 == 0 ? fmt::format("{}ns", ps / 1000)
                        : fmt::format("{}ps", ps);
}

// Joins the GPUs of a server.
void AddInterconnect(const Interconnect& interconnect, ServerSpec* server) {
  const std::string latency = TextOfNs(interconnect.latency_ns);
  const bool is_mesh = interconnect.num_peers > 0;
  server->nv_switches = server->gpus > 1 && !is_mesh ? 1 : 0;
  server->nvlink = {TextOfGBps(interconnect.GBps), latency, "0"};
  if (!is_mesh) return;
  const CableSpec cable = {
      TextOfGBps(interconnect.GBps / interconnect.num_peers), latency, "0"};
  for (uint32_t a = 0; a < server->gpus; ++a) {
    for (uint32_t b = a + 1; b < server->gpus; ++b) {
      server->gpu_cables.push_back({a, b, cable});
    }
  }
}

}  // namespace

absl::StatusOr<ServerType> ServerTypeOf(const SystemSpec& system) {
  ServerType type;
  type.name = system.name;
  type.server.gpus = system.gpus_per_server;
  type.server.gpu_type = system.gpu;
  AddInterconnect(system.interconnect, &type.server);
  if (system.transport.name.empty()) return type;
  const uint32_t gpus = system.gpus_per_server;
  const uint32_t nics = system.nics_per_server;
  if (std::max(gpus, nics) % std::min(gpus, nics) != 0) {
    return absl::InvalidArgumentError(
        fmt::format("{} GPUs and {} NICs of a server of {} do not divide one "
                    "another",
                    gpus, nics, system.name));
  }
  type.server.nics =
      EvenNics(gpus, std::max(1U, nics / gpus), std::max(1U, gpus / nics));
  type.nic = {TextOfGBps(system.nic_GBps),
              TextOfNs(system.transport.fabric_latency_ns), "0"};
  return type;
}

ServerTypeSources ServerTypesFor(const std::string& folder,
                                 Warnings* warnings) {
  const auto in_folder = [folder](const std::string& path) {
    return (std::filesystem::path(folder) / path).string();
  };
  ServerTypeSources sources;
  sources.named =
      [in_folder](const std::string& name) -> absl::StatusOr<ServerType> {
    ASTRA_ASSIGN_OR_RETURN(
        const SystemSpec system,
        LoadSystem(IsYamlPath(name) ? in_folder(name) : name));
    return ServerTypeOf(system);
  };
  sources.nccl_topology =
      [in_folder,
       warnings](const std::string& path) -> absl::StatusOr<ServerType> {
    const std::string file = in_folder(path);
    ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
    return ParseNcclTopology(file, contents, warnings);
  };
  return sources;
}

}  // namespace astra
