#include "topology/discovered/discovered_fabric.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "fmt/core.h"
#include "topology/discovered/fabric_levels.h"
#include "topology/discovered/slow_ports.h"
#include "topology/fabrics/fabric.h"

namespace astra {
namespace {

// Cables of the drawing before parallel ones are joined.
class CableSums {
 public:
  void Add(NodeId a, NodeId b, Bandwidth rate) {
    const std::pair<uint32_t, uint32_t> ends(a.index(), b.index());
    const auto [found, is_new] = place_.try_emplace(ends, cables_.size());
    if (is_new) cables_.push_back({a, b, Bandwidth(0)});
    Sum& sum = cables_[found->second];
    sum.rate = Bandwidth(sum.rate.count() + rate.count());
  }

  // Draws the cables in the order in which the first of each were added.
  void Draw(const CableSpec& make, FabricDrawing& drawing) const {
    for (const Sum& each : cables_) {
      drawing.Cable(each.a, each.b,
                    {CableRateText(each.rate), make.latency, make.error_rate});
    }
  }

 private:
  struct Sum {
    NodeId a;
    NodeId b;
    Bandwidth rate;
  };

  std::vector<Sum> cables_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> place_;
};

// Returns the switches by level, those of a level in the order of the file.
std::vector<uint32_t> SwitchesByLevel(const std::vector<uint32_t>& levels) {
  std::vector<uint32_t> switches;
  for (uint32_t node = 0; node < levels.size(); ++node) {
    if (levels[node] != kNoLevel) switches.push_back(node);
  }
  std::stable_sort(
      switches.begin(), switches.end(),
      [&](uint32_t a, uint32_t b) { return levels[a] < levels[b]; });
  return switches;
}

// Returns the highest rate of the ports of hosts.
Bandwidth FastestNic(const IbFabric& fabric,
                     const std::vector<FabricHost>& hosts) {
  Bandwidth rate(0);
  for (const FabricHost& host : hosts) {
    for (const HostPort& port : host.ports) {
      rate = std::max(rate, fabric.nodes[port.node].ports[port.port].rate);
    }
  }
  return rate;
}

}  // namespace

absl::StatusOr<Topology> DrawDiscoveredFabric(
    std::string_view file, const IbFabric& fabric,
    const std::vector<FabricHost>& hosts, const ServerSpec& server,
    const CableSpec& cable, Warnings* warnings) {
  const std::vector<uint32_t> levels = LevelsOfSwitches(fabric, hosts);
  WarnOfSlowPorts(file, fabric, hosts, levels, warnings);
  if (hosts.size() * server.gpus > Topology::kMaxNodes) {
    return absl::InvalidArgumentError(
        fmt::format("more than {} GPUs", Topology::kMaxNodes));
  }
  FabricSpec spec;
  spec.servers = server;
  spec.servers.count = static_cast<uint32_t>(hosts.size());
  spec.nics.cable = cable;
  spec.nics.cable.rate = CableRateText(FastestNic(fabric, hosts));
  FabricDrawing drawing(spec);

  const std::vector<uint32_t> switches = SwitchesByLevel(levels);
  const std::vector<NodeId> nodes =
      drawing.AddSwitches(static_cast<uint32_t>(switches.size()));
  std::map<uint32_t, NodeId> node_of;  // By node of the fabric.
  for (size_t i = 0; i < nodes.size(); ++i) node_of[switches[i]] = nodes[i];
  CableSums cables;
  for (uint32_t i = 0; i < hosts.size() && drawing.ok(); ++i) {
    for (uint32_t nic = 0; nic < hosts[i].ports.size(); ++nic) {
      const HostPort& place = hosts[i].ports[nic];
      const IbPort& port = fabric.nodes[place.node].ports[place.port];
      cables.Add(drawing.NicNode(i, nic), node_of.at(port.peer), port.rate);
    }
  }
  for (const uint32_t node : switches) {
    for (const IbPort& port : fabric.nodes[node].ports) {
      const auto peer = node_of.find(port.peer);
      if (peer == node_of.end() || port.peer == node || !drawing.ok()) continue;
      const NodeId here = node_of.at(node);
      // Every cable is listed at both ends.
      if (here.index() < peer->second.index()) {
        cables.Add(here, peer->second, port.rate);
      }
    }
  }
  cables.Draw(cable, drawing);
  return std::move(drawing).Finish();
}

}  // namespace astra
