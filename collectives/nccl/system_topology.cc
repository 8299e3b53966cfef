#include "collectives/nccl/system_topology.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"
#include "topology/two_level_cluster.h"

namespace astra {
namespace {

// NICs of `gpus` GPUs of a server, and the rate of one. If there are more NICs
// than GPUs, they count as one for each GPU.
struct Nics {
  uint32_t count = 1;
  double GBps = 0;
};

Nics NicsOf(const SystemSpec& system, uint32_t gpus) {
  const double all = system.nics_per_server * system.nic_GBps;
  const double per_gpu = all / system.gpus_per_server;
  const uint32_t sharing =
      system.gpus_per_server / std::max(1U, system.nics_per_server);
  const bool is_even =
      sharing * system.nics_per_server == system.gpus_per_server;
  if (sharing < 2 || !is_even) return {gpus, per_gpu};
  if (gpus % sharing == 0) return {gpus / sharing, system.nic_GBps};
  if (gpus < sharing) return {1, system.nic_GBps};
  return {gpus, per_gpu};
}

std::string NsText(double ns) {
  constexpr double kPsPerNs = 1000;
  return fmt::format("{}ps", std::llround(ns * kPsPerNs));
}

// Name of GPUs in a topology that does not name them.
constexpr std::string_view kUnnamedGpu = "gpu";

// Returns whether `type`, in lower case, names the GPUs of `system`, as "h100"
// and "h100-sxm" do.
bool HasGpu(const SystemSpec& system, std::string_view type) {
  return type == system.gpu ||
         type == system.gpu.substr(0, system.gpu.find('-'));
}

}  // namespace

bool IsRack(uint32_t domain) {
  constexpr uint32_t kLargestServer = 16;
  return domain > kLargestServer;
}

uint32_t GpusOfDomain(uint32_t num_gpus, uint32_t domain) {
  const uint32_t most = std::min(num_gpus, domain);
  if (most == 0 || num_gpus % most == 0 || !IsRack(domain)) return most;
  const uint32_t fewest = (num_gpus + domain - 1) / domain;
  for (uint32_t domains = fewest; domains <= 2 * fewest; ++domains) {
    if (num_gpus % domains == 0) return num_gpus / domains;
  }
  return most;
}

absl::StatusOr<Topology> BuildSystemTopology(const SystemSpec& system,
                                             uint32_t num_gpus,
                                             uint32_t gpus_per_server) {
  if (gpus_per_server < 1 || gpus_per_server > system.gpus_per_server) {
    return absl::InvalidArgumentError(
        fmt::format("{} GPUs of a server: {} has {}", gpus_per_server,
                    system.name, system.gpus_per_server));
  }
  if (num_gpus < 1 || num_gpus % gpus_per_server != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "{} GPUs do not divide into servers of {}", num_gpus, gpus_per_server));
  }
  const uint32_t num_servers = num_gpus / gpus_per_server;
  if (num_servers > system.max_servers) {
    return absl::InvalidArgumentError(
        fmt::format("{} servers: {} has at most {} (max_servers)", num_servers,
                    system.name, system.max_servers));
  }
  constexpr double kUnusedGBps = 1;  // One server sends nothing to others.
  const Nics nics = num_servers == 1 ? Nics{gpus_per_server, kUnusedGBps}
                                     : NicsOf(system, gpus_per_server);
  return BuildTwoLevelCluster(
      {.num_gpus = num_gpus,
       .gpus_per_server = gpus_per_server,
       .nics_per_server = nics.count,
       .nvlink_gb_per_s = system.interconnect.GBps,
       .nic_gb_per_s = nics.GBps,
       .gpu_type = system.gpu,
       .nvlink_latency = NsText(system.interconnect.latency_ns),
       .network_latency = NsText(system.transport.fabric_latency_ns)});
}

absl::Status CheckGpus(const SystemSpec& system, const Topology& topology,
                       std::string_view file) {
  const std::string type = LowerCase(topology.gpu_type());
  if (type == kUnnamedGpu || HasGpu(system, type)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("--system {} has the GPU {}, but {} has {}", system.name,
                  system.gpu, file, Quoted(topology.gpu_type())));
}

absl::StatusOr<SystemSpec> DeriveSystem(const Topology& topology) {
  return SystemOfGpu(topology.gpu_type());
}

absl::StatusOr<SystemSpec> SystemOfGpu(std::string_view gpu_type) {
  const std::string type = LowerCase(gpu_type);
  if (type == kUnnamedGpu) {
    return absl::InvalidArgumentError(
        "the topology does not name its GPUs: give --system");
  }
  const std::string family = type.substr(0, type.find('-'));
  std::vector<const SystemSpec*> with_gpu;
  std::string names;
  for (const SystemSpec& system : BundledSystems()) {
    if (!HasGpu(system, type)) continue;
    with_gpu.push_back(&system);
    names += (names.empty() ? "" : ", ") + system.name;
  }
  if (with_gpu.size() == 1) return *with_gpu.front();
  for (const std::string& name :
       {"dgx-" + family, "hgx-" + family, family, family + "-nvl72"}) {
    for (const SystemSpec* system : with_gpu) {
      if (system->name == name) return *system;
    }
  }
  for (const SystemSpec* system : with_gpu) {
    if (type.substr(0, system->name.size()) == system->name) return *system;
  }
  return absl::InvalidArgumentError(
      fmt::format("{} system with the GPU {} is known: give --system{}",
                  names.empty() ? "no" : "more than one", Quoted(gpu_type),
                  names.empty() ? "" : fmt::format(", such as {}", names)));
}

}  // namespace astra
