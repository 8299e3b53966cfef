#include "collectives/algorithms/server_tree.h"

#include <algorithm>

#include "absl/types/span.h"

namespace astra {
namespace {

// Returns the parent of `node`, which is not the root, in the first tree.
uint32_t ParentOf(uint32_t node, uint32_t num_nodes) {
  const uint32_t lowest_bit = node & (~node + 1);
  const uint32_t below = node - lowest_bit;
  const uint32_t above = below | (lowest_bit << 1);
  return above < num_nodes ? above : below;
}

}  // namespace

ServerTree MakeServerTree(uint32_t num_servers, uint32_t tree) {
  const uint32_t n = num_servers;
  const auto server_at = [&](uint32_t node) {
    if (tree == 0) return node;
    return n % 2 == 0 ? n - 1 - node : (node + 1) % n;
  };
  ServerTree result;
  result.parent.resize(n);
  std::vector<std::vector<uint32_t>> children(n);
  for (uint32_t node = 1; node < n; ++node) {
    const uint32_t parent = server_at(ParentOf(node, n));
    result.parent[server_at(node)] = parent;
    children[parent].push_back(server_at(node));
  }
  result.order.push_back(server_at(0));
  for (size_t i = 0; i < result.order.size(); ++i) {
    const std::vector<uint32_t>& next = children[result.order[i]];
    result.order.insert(result.order.end(), next.begin(), next.end());
  }
  return result;
}

uint32_t TreeOf(uint32_t channel, uint32_t num_channels) {
  return channel < (num_channels + 1) / 2 ? 0 : 1;
}

std::vector<GroupRank> ServerChain(const GroupLayout& layout, uint32_t server,
                                   uint32_t index) {
  const absl::Span<const GroupRank> first = layout.ranks_of(0);
  const uint32_t rail = layout.rail_of(first[index % first.size()]);
  const absl::Span<const GroupRank> ranks = layout.ranks_of(server);
  const auto on_rail = std::find_if(
      ranks.begin(), ranks.end(),
      [&](GroupRank rank) { return layout.rail_of(rank) == rail; });
  const auto begin =
      on_rail != ranks.end() ? on_rail : ranks.begin() + index % ranks.size();
  std::vector<GroupRank> chain(ranks.begin(), ranks.end());
  std::rotate(chain.begin(), chain.begin() + (begin - ranks.begin()),
              chain.end());
  return chain;
}

}  // namespace astra
