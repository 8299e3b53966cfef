#include "topology/discovered/slow_ports.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "fmt/core.h"
#include "topology/discovered/fabric_levels.h"
#include "topology/fabrics/cable.h"

namespace astra {
namespace {

// A port of a node, by their indices.
using PortOfNode = std::pair<uint32_t, uint32_t>;

class SlowPortFinder {
 public:
  SlowPortFinder(std::string_view file, const IbFabric& fabric,
                 Warnings* warnings)
      : file_(file), fabric_(fabric), warnings_(warnings) {}

  // Warns of the slow ones among `ports`; `what` names their kind.
  void Compare(const std::vector<PortOfNode>& ports, const std::string& what) {
    const IbPort* fastest = nullptr;
    for (const PortOfNode& each : ports) {
      const IbPort& port = PortAt(each);
      if (fastest == nullptr || port.rate > fastest->rate) fastest = &port;
    }
    for (const PortOfNode& each : ports) {
      const IbPort& port = PortAt(each);
      if (port.rate == fastest->rate || !told_.insert(CableOf(each)).second) {
        continue;
      }
      warnings_->push_back(fmt::format(
          "{}:{}:1: port {} of {} to {} runs at {} ({}), another {} at {} ({})",
          file_, port.line, port.number, IbNodeName(fabric_.nodes[each.first]),
          IbNodeName(fabric_.nodes[port.peer]), port.speed,
          CableRateText(port.rate), what, fastest->speed,
          CableRateText(fastest->rate)));
    }
  }

 private:
  const IbPort& PortAt(const PortOfNode& port) const {
    return fabric_.nodes[port.first].ports[port.second];
  }

  // Names a cable by one of its ends: the lower node and its port.
  PortOfNode CableOf(const PortOfNode& each) const {
    const IbPort& port = PortAt(each);
    return std::min(PortOfNode(each.first, port.number),
                    PortOfNode(port.peer, port.peer_port));
  }

  std::string_view file_;
  const IbFabric& fabric_;
  Warnings* warnings_;
  std::set<PortOfNode> told_;
};

}  // namespace

void WarnOfSlowPorts(std::string_view file, const IbFabric& fabric,
                     const std::vector<FabricHost>& hosts,
                     const std::vector<uint32_t>& levels, Warnings* warnings) {
  SlowPortFinder finder(file, fabric, warnings);
  std::vector<bool> is_of_host(fabric.nodes.size());
  for (const FabricHost& host : hosts) {
    std::vector<PortOfNode> ports;
    for (const HostPort& port : host.ports) {
      is_of_host[port.node] = true;
      ports.emplace_back(port.node, port.port);
    }
    finder.Compare(ports, "NIC of this host");
  }
  for (uint32_t node = 0; node < fabric.nodes.size(); ++node) {
    if (levels[node] == kNoLevel) continue;
    std::map<uint32_t, std::vector<PortOfNode>> to_level;
    const std::vector<IbPort>& ports = fabric.nodes[node].ports;
    for (uint32_t i = 0; i < ports.size(); ++i) {
      const uint32_t peer = ports[i].peer;
      if (levels[peer] == kNoLevel && !is_of_host[peer]) continue;
      to_level[levels[peer]].emplace_back(node, i);
    }
    for (const auto& [level, group] : to_level) {
      finder.Compare(group, level == kNoLevel
                                ? "port to a host"
                                : fmt::format("port to tier {}", level));
    }
  }
}

}  // namespace astra
