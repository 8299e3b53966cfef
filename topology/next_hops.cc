#include "topology/next_hops.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/random.h"

namespace astra {
namespace {

constexpr uint32_t kUnreached = std::numeric_limits<uint32_t>::max();

constexpr LinkId Reverse(LinkId link) { return LinkId(link.index() ^ 1); }

}  // namespace

NextHops::NextHops(const Topology& topology)
    : topology_(topology),
      is_down_(topology.links().size()),
      kept_(topology.num_gpus()) {
  FindFabrics();
  ListPorts();
  ListEntrances();
}

NextHops::~NextHops() = default;

void NextHops::FindFabrics() {
  const uint32_t num_nodes = topology_.num_nodes();
  fabric_of_.assign(num_nodes, kUnreached);
  place_of_.assign(num_nodes, 0);
  for (uint32_t i = topology_.num_gpus(); i < num_nodes; ++i) {
    if (fabric_of_[i] != kUnreached) continue;
    const auto fabric = static_cast<uint32_t>(fabrics_.size());
    std::vector<NodeId>& nodes = fabrics_.emplace_back();
    const auto meet = [&](NodeId node) {
      if (IsGpu(node) || fabric_of_[node.index()] != kUnreached) return;
      fabric_of_[node.index()] = fabric;
      place_of_[node.index()] = static_cast<uint32_t>(nodes.size());
      nodes.push_back(node);
    };
    meet(NodeId(i));
    for (size_t k = 0; k < nodes.size(); ++k) {
      for (const LinkId link : topology_.links_from(nodes[k])) {
        meet(topology_.link(link).target);
      }
    }
  }
}

void NextHops::ListPorts() {
  for (uint32_t gpu = 0; gpu < topology_.num_gpus(); ++gpu) {
    first_port_.push_back(static_cast<uint32_t>(ports_.size()));
    for (const LinkId link : topology_.links_from(NodeId(gpu))) {
      ports_.push_back({topology_.link(link).target, Reverse(link)});
    }
    std::sort(
        ports_.begin() + first_port_.back(), ports_.end(),
        [](const Port& a, const Port& b) { return a.neighbour < b.neighbour; });
  }
  first_port_.push_back(static_cast<uint32_t>(ports_.size()));
}

// Lists the fabrics through which each node is reached. Fabrics of one switch
// are left out: either a port leads from the switch to a target, or no path
// does.
void NextHops::ListEntrances() {
  std::vector<uint32_t> fabrics;
  for (uint32_t i = 0; i < topology_.num_nodes(); ++i) {
    first_entrance_.push_back(static_cast<uint32_t>(entrances_.size()));
    fabrics.clear();
    if (!IsGpu(NodeId(i))) {
      fabrics.push_back(fabric_of_[i]);
    } else {
      for (const LinkId link : topology_.links_from(NodeId(i))) {
        const NodeId next = topology_.link(link).target;
        if (!IsGpu(next)) fabrics.push_back(fabric_of_[next.index()]);
      }
    }
    std::sort(fabrics.begin(), fabrics.end());
    fabrics.erase(std::unique(fabrics.begin(), fabrics.end()), fabrics.end());
    for (const uint32_t fabric : fabrics) {
      if (fabrics_[fabric].size() > 1) entrances_.push_back({fabric, nullptr});
    }
  }
  first_entrance_.push_back(static_cast<uint32_t>(entrances_.size()));
}

absl::Span<const LinkId> NextHops::Find(NodeId at, NodeId target) {
  ASTRA_DCHECK(at != target, "from {} to itself", at);
  if (IsGpu(at)) return FindFromGpu(at, target);
  if (IsGpu(target)) {
    const Port* port = FindPort(target, at);
    if (port != nullptr && !is_down_[port->link.index()]) {
      return absl::MakeConstSpan(&port->link, 1);
    }
  }
  const Table* table = TableFor(fabric_of_[at.index()], target);
  if (table == nullptr) return {};
  const uint32_t place = place_of_[at.index()];
  const uint32_t begin = table->first[place];
  return absl::MakeConstSpan(table->links)
      .subspan(begin, table->first[place + 1] - begin);
}

// Returns the port of `gpu` at `neighbour`, up or down, or null if there is
// none.
const NextHops::Port* NextHops::FindPort(NodeId gpu, NodeId neighbour) const {
  const Port* const end = ports_.data() + first_port_[gpu.index() + 1];
  const Port* const port = std::lower_bound(
      ports_.data() + first_port_[gpu.index()], end, neighbour,
      [](const Port& p, NodeId node) { return p.neighbour < node; });
  return port != end && port->neighbour == neighbour ? port : nullptr;
}

// Finds the link to the target itself, or else the links to the nearest
// switches; at equal distance NVSwitches are preferred.
absl::Span<const LinkId> NextHops::FindFromGpu(NodeId gpu, NodeId target) {
  std::pair<uint32_t, bool> best = {kUnreached, true};
  nearest_.clear();
  for (const LinkId link : topology_.links_from(gpu)) {
    if (is_down_[link.index()]) continue;
    const NodeId next = topology_.link(link).target;
    if (next == target) {
      nearest_.assign(1, link);
      break;
    }
    const uint32_t hops = IsGpu(next) ? kUnreached : HopsFrom(next, target);
    if (hops == kUnreached) continue;
    const std::pair<uint32_t, bool> rank = {
        hops, topology_.kind(next) != NodeKind::kNvSwitch};
    if (rank > best) continue;
    if (rank < best) nearest_.clear();
    best = rank;
    nearest_.push_back(link);
  }
  return KeepNearest(gpu);
}

absl::Span<const LinkId> NextHops::KeepNearest(NodeId gpu) {
  std::vector<std::vector<LinkId>>& kept = kept_[gpu.index()];
  for (const std::vector<LinkId>& known : kept) {
    if (known == nearest_) return known;
  }
  // The returned span stays valid: moving a vector does not move its elements.
  return kept.emplace_back(nearest_);
}

// Returns the links from a switch to the nearest switch that is, or is linked
// to, `target`.
uint32_t NextHops::HopsFrom(NodeId node, NodeId target) {
  if (IsGpu(target)) {
    const Port* port = FindPort(target, node);
    if (port != nullptr && !is_down_[port->link.index()]) return 0;
  }
  const Table* table = TableFor(fabric_of_[node.index()], target);
  return table == nullptr ? kUnreached : table->hops[place_of_[node.index()]];
}

// Returns null if `fabric` has only one switch or is not next to `target`.
const NextHops::Table* NextHops::TableFor(uint32_t fabric, NodeId target) {
  Entrance* const end = entrances_.data() + first_entrance_[target.index() + 1];
  Entrance* entrance = entrances_.data() + first_entrance_[target.index()];
  while (entrance != end && entrance->fabric != fabric) ++entrance;
  if (entrance == end) return nullptr;
  if (entrance->table != nullptr) return entrance->table;

  std::vector<NodeId> exits;
  if (!IsGpu(target)) {
    if (fabric_of_[target.index()] != fabric) return nullptr;
    exits.push_back(target);
  } else {
    const uint32_t port_end = first_port_[target.index() + 1];
    for (uint32_t i = first_port_[target.index()]; i < port_end; ++i) {
      const Port& port = ports_[i];
      if (IsGpu(port.neighbour) || is_down_[port.link.index()] ||
          fabric_of_[port.neighbour.index()] != fabric) {
        continue;
      }
      exits.push_back(port.neighbour);
    }
  }
  if (exits.empty()) return nullptr;
  std::unique_ptr<Table>& table = tables_[exits];
  if (table == nullptr) {
    table = std::make_unique<Table>(MakeTable(fabric, exits));
  }
  return entrance->table = table.get();
}

// Makes a table by a search from the exits against the direction of the links.
NextHops::Table NextHops::MakeTable(uint32_t fabric,
                                    const std::vector<NodeId>& exits) const {
  const std::vector<NodeId>& nodes = fabrics_[fabric];
  Table table;
  table.hops.assign(nodes.size(), kUnreached);
  const auto hops = [&](NodeId node) -> uint32_t& {
    return table.hops[place_of_[node.index()]];
  };
  for (const NodeId exit : exits) hops(exit) = 0;
  std::vector<NodeId> reached = exits;
  for (size_t k = 0; k < reached.size(); ++k) {
    for (const LinkId link : topology_.links_from(reached[k])) {
      const NodeId next = topology_.link(link).target;
      if (IsGpu(next) || is_down_[Reverse(link).index()]) continue;
      if (hops(next) != kUnreached) continue;
      hops(next) = hops(reached[k]) + 1;
      reached.push_back(next);
    }
  }
  for (const NodeId node : nodes) {
    table.first.push_back(static_cast<uint32_t>(table.links.size()));
    if (hops(node) == 0 || hops(node) == kUnreached) continue;
    for (const LinkId link : topology_.links_from(node)) {
      const NodeId next = topology_.link(link).target;
      if (IsGpu(next) || is_down_[link.index()]) continue;
      if (hops(next) + 1 == hops(node)) table.links.push_back(link);
    }
  }
  table.first.push_back(static_cast<uint32_t>(table.links.size()));
  return table;
}

void NextHops::SetLinkUp(LinkId link, bool is_up) {
  if (is_down_[link.index()] != is_up) return;
  is_down_[link.index()] = !is_up;
  for (Entrance& entrance : entrances_) entrance.table = nullptr;
  tables_.clear();
  for (std::vector<std::vector<LinkId>>& kept : kept_) kept.clear();
}

bool NextHops::AppendEcmpPath(NodeId source, NodeId target, uint64_t key,
                              std::vector<LinkId>* path) {
  const size_t length = path->size();
  for (NodeId at = source; at != target;) {
    const absl::Span<const LinkId> hops = Find(at, target);
    if (hops.empty()) {
      path->resize(length);
      return false;
    }
    path->push_back(hops[HashOf(key, at.index()) % hops.size()]);
    at = topology_.link(path->back()).target;
  }
  return true;
}

}  // namespace astra
