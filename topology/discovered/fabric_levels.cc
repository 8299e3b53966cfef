#include "topology/discovered/fabric_levels.h"

#include <algorithm>
#include <limits>

namespace astra {
namespace {

constexpr uint32_t kFar = std::numeric_limits<uint32_t>::max();

// Breadth-first searches through the switches of a fabric.
class SwitchSearch {
 public:
  explicit SwitchSearch(const IbFabric& fabric)
      : fabric_(fabric), distance_(fabric.nodes.size(), kFar) {}

  // Finds the distance of all switches from the nearest of `sources`.
  void Run(const std::vector<uint32_t>& sources) {
    for (const uint32_t node : order_) distance_[node] = kFar;
    order_ = sources;
    for (const uint32_t node : sources) distance_[node] = 0;
    for (size_t i = 0; i < order_.size(); ++i) {
      const uint32_t node = order_[i];
      ForEachSwitchNextTo(node, [&](uint32_t next) {
        if (distance_[next] != kFar) return;
        distance_[next] = distance_[node] + 1;
        order_.push_back(next);
      });
    }
  }

  // Adds to `used` all switches on shortest paths from the sources to those of
  // `targets`, of which there must be some in `used`.
  void MarkPaths(const std::vector<uint32_t>& targets,
                 std::vector<bool>& used) {
    std::vector<bool> is_on_path(distance_.size());
    for (const uint32_t node : targets) is_on_path[node] = true;
    for (size_t i = order_.size(); i-- > 0;) {
      const uint32_t node = order_[i];
      if (!is_on_path[node]) continue;
      used[node] = true;
      ForEachSwitchNextTo(node, [&](uint32_t next) {
        if (distance_[next] + 1 == distance_[node]) is_on_path[next] = true;
      });
    }
  }

  uint32_t distance(uint32_t node) const { return distance_[node]; }

 private:
  template <class Visitor>
  void ForEachSwitchNextTo(uint32_t node, Visitor visit) const {
    for (const IbPort& port : fabric_.nodes[node].ports) {
      if (fabric_.nodes[port.peer].kind == IbNodeKind::kSwitch) {
        visit(port.peer);
      }
    }
  }

  const IbFabric& fabric_;
  std::vector<uint32_t> distance_;  // By node; kFar if it was not reached.
  std::vector<uint32_t> order_;     // Nodes in the order of the search.
};

// Returns the switches that have a cable to a host, without repetition.
std::vector<uint32_t> LeavesOf(const IbFabric& fabric,
                               const std::vector<FabricHost>& hosts) {
  std::vector<uint32_t> leaves;
  for (const FabricHost& host : hosts) {
    for (const HostPort& port : host.ports) {
      leaves.push_back(fabric.nodes[port.node].ports[port.port].peer);
    }
  }
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  return leaves;
}

}  // namespace

std::vector<uint32_t> LevelsOfSwitches(const IbFabric& fabric,
                                       const std::vector<FabricHost>& hosts) {
  const std::vector<uint32_t> leaves = LeavesOf(fabric, hosts);
  SwitchSearch search(fabric);
  std::vector<bool> used(fabric.nodes.size());
  for (const uint32_t leaf : leaves) {
    search.Run({leaf});
    search.MarkPaths(leaves, used);
  }
  search.Run(leaves);
  std::vector<uint32_t> levels(fabric.nodes.size(), kNoLevel);
  for (uint32_t node = 0; node < fabric.nodes.size(); ++node) {
    if (used[node]) levels[node] = search.distance(node) + 1;
  }
  return levels;
}

}  // namespace astra
