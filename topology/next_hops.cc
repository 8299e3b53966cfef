#include "topology/next_hops.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/random.h"

namespace astra {
NextHops::NextHops(const Topology& topology)
    : topology_(topology),
      is_down_(topology.links().size()),
      graph_(topology, FabricGraph::Bundles::kNone),
      attachments_(topology, graph_),
      table_of_(attachments_.size()),
      kept_(topology.num_nodes()) {}

absl::Span<const LinkId> NextHops::Find(NodeId at, NodeId target) {
  ASTRA_DCHECK(at != target, "from {} to itself", at);
  if (topology_.IsHost(at)) return FindFromHost(at, target);
  absl::Span<const LinkId> links;
  attachments_.ForEachCommonFabric(
      at, target, [&](const Attachment&, const Attachment& there) {
        links = FromSwitch(at, there).links;
      });
  return links;
}

NextHops::Step NextHops::FromSwitch(NodeId at, const Attachment& target) {
  const LinkId* last = attachments_.LinkFrom(at, target);
  if (last != nullptr && !is_down_[last->index()]) {
    return {0, absl::MakeConstSpan(last, 1)};
  }
  const Table* table = TableFor(target);
  if (table == nullptr) return {FabricGraph::kUnreached, {}};
  const uint32_t place = graph_.place(graph_.VertexOf(at));
  const uint32_t begin = table->first[place];
  return {table->hops[place],
          absl::MakeConstSpan(table->links)
              .subspan(begin, table->first[place + 1] - begin)};
}

absl::Span<const LinkId> NextHops::FindFromHost(NodeId host, NodeId target) {
  const std::optional<LinkId> direct = attachments_.FindLink(host, target);
  if (direct && !is_down_[direct->index()]) return Keep(host, {*direct});
  NearestWays<LinkId> nearest;
  attachments_.ForEachCommonFabric(
      host, target, [&](const Attachment& ours, const Attachment& theirs) {
        for (const LinkId back : attachments_.LinksTo(ours)) {
          const LinkId link = Reverse(back);
          if (is_down_[link.index()]) continue;
          const NodeId next = topology_.link(link).target;
          nearest.Offer(FromSwitch(next, theirs).num_hops, topology_.kind(next),
                        graph_.is_nvlink(ours.fabric), link);
        }
      });
  std::vector<LinkId> links(nearest.ways().begin(), nearest.ways().end());
  std::sort(links.begin(), links.end());
  return Keep(host, std::move(links));
}

absl::Span<const LinkId> NextHops::Keep(NodeId host,
                                        std::vector<LinkId> links) {
  std::vector<std::vector<LinkId>>& kept = kept_[host.index()];
  for (const std::vector<LinkId>& known : kept) {
    if (known == links) return known;
  }
  // The returned span stays valid: moving a vector does not move its elements.
  return kept.emplace_back(std::move(links));
}

// Returns null if no link leads from the fabric to the target.
const NextHops::Table* NextHops::TableFor(const Attachment& target) {
  const Table*& known = table_of_[attachments_.IndexOf(target)];
  if (known != nullptr) return known;
  std::vector<NodeId> exits = attachments_.switches(target.switches);
  for (const LinkId link : attachments_.LinksTo(target)) {
    if (is_down_[link.index()]) std::erase(exits, topology_.link(link).source);
  }
  if (exits.empty()) return nullptr;
  const auto [table, is_new] = tables_.try_emplace(std::move(exits));
  if (is_new) table->second = MakeTable(target.fabric, table->first);
  return known = &table->second;
}

// Makes a table by a search from the exits against the direction of the links.
NextHops::Table NextHops::MakeTable(uint32_t fabric,
                                    const std::vector<NodeId>& exits) const {
  const absl::Span<const uint32_t> members = graph_.members(fabric);
  Table table;
  table.hops.assign(members.size(), FabricGraph::kUnreached);
  const auto hops = [&](uint32_t vertex) -> uint32_t& {
    return table.hops[graph_.place(vertex)];
  };
  std::vector<uint32_t> reached;
  for (const NodeId exit : exits) {
    reached.push_back(graph_.VertexOf(exit));
    hops(reached.back()) = 0;
  }
  for (size_t k = 0; k < reached.size(); ++k) {
    const uint32_t next_hops = hops(reached[k]) + 1;
    graph_.ForEachEdge(reached[k], [&](const FabricGraph::Edge& edge) {
      if (is_down_[Reverse(edge.first_link).index()]) return;
      if (hops(edge.target) != FabricGraph::kUnreached) return;
      hops(edge.target) = next_hops;
      reached.push_back(edge.target);
    });
  }
  for (const uint32_t vertex : members) {
    table.first.push_back(static_cast<uint32_t>(table.links.size()));
    const uint32_t here = hops(vertex);
    if (here == 0 || here == FabricGraph::kUnreached) continue;
    graph_.ForEachEdge(vertex, [&](const FabricGraph::Edge& edge) {
      if (is_down_[edge.first_link.index()]) return;
      if (hops(edge.target) + 1 == here) table.links.push_back(edge.first_link);
    });
  }
  table.first.push_back(static_cast<uint32_t>(table.links.size()));
  return table;
}

void NextHops::SetLinkUp(LinkId link, bool is_up) {
  if (is_down_[link.index()] != is_up) return;
  is_down_[link.index()] = !is_up;
  std::fill(table_of_.begin(), table_of_.end(), nullptr);
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
