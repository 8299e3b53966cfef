#include "collectives/group_shape.h"

#include <set>

namespace astra {

GroupShape ShapeOf(absl::Span<const RankId> ranks, const Topology& topology) {
  const auto num_ranks = static_cast<uint32_t>(ranks.size());
  const GroupShape uneven = {.num_ranks = num_ranks, .ranks_per_server = 1};
  const auto server_of = [&](uint32_t i) {
    return topology.ServerOf(ranks[i]);
  };
  uint32_t per_server = 1;
  while (per_server < num_ranks && server_of(per_server) == server_of(0)) {
    ++per_server;
  }
  if (num_ranks % per_server != 0) return uneven;

  std::set<uint32_t> servers;
  for (uint32_t i = 0; i < num_ranks; ++i) {
    const bool is_first = i % per_server == 0;
    if (is_first ? !servers.insert(server_of(i)).second
                 : server_of(i) != server_of(i - 1)) {
      return uneven;
    }
  }
  return {.num_ranks = num_ranks, .ranks_per_server = per_server};
}

}  // namespace astra
