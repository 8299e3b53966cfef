#include "collectives/group_layout.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "astra-core/base/check.h"

namespace astra {
namespace {

// Puts the NVSwitches to which `gpu` is linked into `switches`, sorted.
void FindNvSwitchesNextTo(NodeId gpu, const Topology& topology,
                          std::vector<NodeId>& switches) {
  switches.clear();
  for (const LinkId link : topology.links_from(gpu)) {
    const NodeId next = topology.link(link).target;
    if (topology.kind(next) == NodeKind::kNvSwitch) switches.push_back(next);
  }
  std::sort(switches.begin(), switches.end());
}

}  // namespace

GroupLayout GroupLayout::FromServers(std::vector<uint32_t> server_of,
                                     std::vector<uint32_t> rail_of,
                                     uint32_t nv_switches_per_server) {
  ASTRA_CHECK(!server_of.empty(), "a group without ranks");
  GroupLayout layout;
  layout.server_of_ = std::move(server_of);
  layout.rail_of_ = std::move(rail_of);
  layout.nv_switches_per_server_ = nv_switches_per_server;
  const uint32_t num_ranks = layout.num_ranks();

  for (uint32_t rank = 0; rank < num_ranks; ++rank) {
    layout.ranks_.push_back(GroupRank(rank));
  }
  std::sort(layout.ranks_.begin(), layout.ranks_.end(),
            [&](GroupRank a, GroupRank b) {
              return std::pair(layout.server_of(a), layout.rail_of(a)) <
                     std::pair(layout.server_of(b), layout.rail_of(b));
            });
  layout.local_of_.resize(num_ranks);
  for (uint32_t i = 0; i < num_ranks; ++i) {
    const GroupRank rank = layout.ranks_[i];
    if (layout.server_of(rank) == layout.first_rank_.size()) {
      layout.first_rank_.push_back(i);
    }
    layout.local_of_[rank.index()] = i - layout.first_rank_.back();
  }
  layout.first_rank_.push_back(num_ranks);

  layout.min_ranks_per_server_ = num_ranks;
  for (uint32_t server = 0; server < layout.num_servers(); ++server) {
    const auto size = static_cast<uint32_t>(layout.ranks_of(server).size());
    layout.min_ranks_per_server_ = std::min(layout.min_ranks_per_server_, size);
    layout.max_ranks_per_server_ = std::max(layout.max_ranks_per_server_, size);
  }
  return layout;
}

GroupLayout GroupLayout::Even(uint32_t num_servers, uint32_t ranks_per_server,
                              uint32_t nv_switches_per_server) {
  return Uneven(std::vector<uint32_t>(num_servers, ranks_per_server),
                nv_switches_per_server);
}

GroupLayout GroupLayout::Uneven(absl::Span<const uint32_t> ranks_of_server,
                                uint32_t nv_switches_per_server) {
  std::vector<uint32_t> server_of;
  std::vector<uint32_t> rail_of;
  for (uint32_t server = 0; server < ranks_of_server.size(); ++server) {
    ASTRA_CHECK(ranks_of_server[server] > 0, "server {} has no rank", server);
    for (uint32_t rail = 0; rail < ranks_of_server[server]; ++rail) {
      server_of.push_back(server);
      rail_of.push_back(rail);
    }
  }
  return FromServers(std::move(server_of), std::move(rail_of),
                     nv_switches_per_server);
}

GroupLayout GroupLayout::Of(absl::Span<const RankId> ranks,
                            const Topology& topology) {
  absl::flat_hash_map<uint32_t, uint32_t> number_of;  // Number of each server.
  std::vector<uint32_t> server_of;
  std::vector<uint32_t> rail_of;
  // NVSwitches by number of the server.
  std::vector<std::vector<NodeId>> nv_switches;
  std::vector<NodeId> linked;
  bool has_nv_switches = true;
  for (const RankId rank : ranks) {
    const uint32_t server = topology.ServerOf(rank);
    const auto next = static_cast<uint32_t>(number_of.size());
    const auto [number, is_new] = number_of.try_emplace(server, next);
    server_of.push_back(number->second);
    rail_of.push_back(rank.index() - server * topology.gpus_per_server());
    if (!has_nv_switches) continue;
    const NodeId gpu = Topology::NodeOf(rank);
    FindNvSwitchesNextTo(gpu, topology, linked);
    if (is_new) nv_switches.push_back(linked);
    has_nv_switches = linked.size() == nv_switches[0].size() &&
                      linked == nv_switches[number->second];
  }
  const auto per_server = static_cast<uint32_t>(
      has_nv_switches && !nv_switches.empty() ? nv_switches[0].size() : 0);
  return FromServers(std::move(server_of), std::move(rail_of), per_server);
}

void GroupLayout::SetReducers(std::vector<Reducer> reducers,
                              std::vector<uint32_t> leaf_of) {
  ASTRA_CHECK(leaf_of.size() == num_ranks(), "{} leaves for {} ranks",
              leaf_of.size(), num_ranks());
  for (const uint32_t leaf : leaf_of) {
    ASTRA_CHECK(leaf < reducers.size(), "reducer {} of {}", leaf,
                reducers.size());
  }
  for (uint32_t i = 0; i < reducers.size(); ++i) {
    const bool is_last = i + 1 == reducers.size();
    const std::optional<uint32_t> parent = reducers[i].parent;
    ASTRA_CHECK(
        is_last ? !parent : parent && i < *parent && *parent < reducers.size(),
        "the parent of reducer {} of {}", i, reducers.size());
  }
  reducers_ = std::move(reducers);
  leaf_of_ = std::move(leaf_of);
}

std::vector<NodeId> MemberNodes(absl::Span<const RankId> ranks,
                                const GroupLayout& layout,
                                const Topology& topology) {
  std::vector<NodeId> nodes;
  for (const RankId rank : ranks) nodes.push_back(Topology::NodeOf(rank));
  if (layout.nv_switches_per_server() == 0) return nodes;
  std::vector<NodeId> switches;
  for (uint32_t server = 0; server < layout.num_servers(); ++server) {
    const GroupRank first = layout.ranks_of(server).front();
    FindNvSwitchesNextTo(nodes[first.index()], topology, switches);
    nodes.insert(nodes.end(), switches.begin(), switches.end());
  }
  return nodes;
}

}  // namespace astra
