#include "collectives/nccl/group_hardware.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

double GBpsOf(const Topology& topology, LinkId link) {
  constexpr double kBitsPerGigabyte = 8e9;
  return static_cast<double>(topology.type(link).bandwidth.count()) /
         kBitsPerGigabyte;
}

// Returns the rate at which a GPU can send to others of its server, in GB/s.
double WithinServer(const Topology& topology, NodeId gpu) {
  double rate = 0;
  for (const LinkId link : topology.links_from(gpu)) {
    const NodeId target = topology.link(link).target;
    if (topology.kind(target) != NodeKind::kSwitch) {
      rate += GBpsOf(topology, link);
    }
  }
  return rate;
}

// Returns whether `node` stands for a NIC: a switch whose GPUs are all of
// `server`, with one cable upwards that is no faster than the cable of a GPU.
bool IsSharedNic(const Topology& topology, NodeId node, uint32_t server) {
  uint32_t num_uplinks = 0;
  double uplink_rate = 0;
  double gpu_rate = 0;
  for (const LinkId link : topology.links_from(node)) {
    const NodeId target = topology.link(link).target;
    if (topology.kind(target) == NodeKind::kStorage) continue;
    if (topology.kind(target) != NodeKind::kGpu) {
      ++num_uplinks;
      uplink_rate = GBpsOf(topology, link);
    } else if (topology.ServerOf(RankId(target.index())) != server) {
      return false;
    } else {
      gpu_rate = GBpsOf(topology, link);
    }
  }
  return num_uplinks == 1 && uplink_rate <= gpu_rate;
}

// The NICs of a server that some of its ranks use.
struct Nics {
  uint32_t count = 0;
  double GBps = 0;  // Rate of all NICs together.
};

Nics NicsOf(const Topology& topology, uint32_t server,
            absl::Span<const RankId> ranks) {
  Nics nics;
  std::set<NodeId> shared;
  for (const RankId rank : ranks) {
    double own_rate = 0;
    for (const LinkId link : topology.links_from(Topology::NodeOf(rank))) {
      const NodeId target = topology.link(link).target;
      if (topology.kind(target) != NodeKind::kSwitch) continue;
      if (!IsSharedNic(topology, target, server)) {
        own_rate += GBpsOf(topology, link);
      } else if (shared.insert(target).second) {
        ++nics.count;
        for (const LinkId up : topology.links_from(target)) {
          if (!topology.IsHost(topology.link(up).target)) {
            nics.GBps += GBpsOf(topology, up);
          }
        }
      }
    }
    if (own_rate > 0) ++nics.count;
    nics.GBps += own_rate;
  }
  return nics;
}

// Returns the hardware that all groups on `system` share; the fields that
// depend on the group keep their defaults.
GroupHardware PartsOf(const SystemSpec& system) {
  GroupHardware hardware;
  hardware.architecture = system.architecture;
  hardware.cpu = system.cpu;
  hardware.interconnect = system.interconnect.kind;
  hardware.has_nvls = system.interconnect.has_nvls;
  hardware.has_sharp = system.sharp;
  hardware.net_latency_us = system.transport.latency_us;
  return hardware;
}

// Returns the slowest rate at which GPUs of a group, all of one server, reach
// the other GPUs there.
absl::StatusOr<double> SlowestWithinServer(const Topology& topology,
                                           absl::Span<const RankId> ranks) {
  double slowest = std::numeric_limits<double>::infinity();
  for (const RankId rank : ranks) {
    const double rate = WithinServer(topology, Topology::NodeOf(rank));
    if (rate == 0) {
      // Such GPUs reach one another through their NICs.
      return absl::FailedPreconditionError(fmt::format(
          "GPU {} has no link, NVLink or PCIe, to others of its server", rank));
    }
    slowest = std::min(slowest, rate);
  }
  return slowest;
}

// Returns the share of a GPU's links that leads to other ranks of a group with
// `count` ranks on the server.
double ShareOfLinks(const Interconnect& interconnect, uint32_t count) {
  const uint32_t peers = interconnect.num_peers;
  if (count < 2 || count > peers) return 1;
  return static_cast<double>(count - 1) / peers;
}

}  // namespace

absl::StatusOr<GroupHardware> HardwareOf(absl::Span<const RankId> ranks,
                                         const SystemSpec& system,
                                         const Topology& topology) {
  std::map<uint32_t, std::vector<RankId>> servers;
  for (const RankId rank : ranks) {
    servers[topology.ServerOf(rank)].push_back(rank);
  }
  GroupHardware hardware = PartsOf(system);
  hardware.num_ranks = static_cast<uint32_t>(ranks.size());
  hardware.num_servers = static_cast<uint32_t>(servers.size());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double gpu_rate = kInfinity;
  double server_rate = kInfinity;
  uint32_t fewest = hardware.num_ranks;
  for (const auto& [server, local] : servers) {
    const auto count = static_cast<uint32_t>(local.size());
    hardware.ranks_per_server = std::max(hardware.ranks_per_server, count);
    fewest = std::min(fewest, count);
    if (count > 1) {
      ASTRA_ASSIGN_OR_RETURN(const double slowest,
                             SlowestWithinServer(topology, local));
      gpu_rate = std::min(gpu_rate, slowest);
    }
    if (servers.size() == 1) break;
    const Nics nics = NicsOf(topology, server, local);
    if (nics.count == 0) {
      return absl::FailedPreconditionError(
          fmt::format("rank {} has no NIC: its group spans {} servers",
                      local.front(), servers.size()));
    }
    if (nics.GBps < server_rate) {
      server_rate = nics.GBps;
      hardware.nics_per_server = nics.count;
      hardware.nic_GBps = nics.GBps / nics.count;
    }
  }
  if (gpu_rate == kInfinity) {
    gpu_rate = system.interconnect.GBps;  // No ranks share a server.
  }
  hardware.fewest_ranks_per_server = fewest;
  hardware.link_GBps = gpu_rate;
  const Interconnect& interconnect = system.interconnect;
  hardware.link_share = ShareOfLinks(interconnect, hardware.ranks_per_server);
  hardware.gpu_GBps =
      hardware.link_share *
      (gpu_rate < interconnect.GBps
           ? std::min(gpu_rate, interconnect.nccl_GBps)
           : gpu_rate * interconnect.nccl_GBps / interconnect.GBps);
  return hardware;
}

}  // namespace astra
