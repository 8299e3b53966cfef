// Positions of the ranks of a group on servers, and the switches that may
// compute for it.

#ifndef COLLECTIVES_GROUP_LAYOUT_H_
#define COLLECTIVES_GROUP_LAYOUT_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "topology/topology.h"

namespace astra {

// A layout is a value: two groups that lie alike have equal layouts and share
// their flow graphs, wherever in the cluster they are.
//
// Members are numbered: first the ranks, in group order; then the NVSwitches of
// the first server, of the second, and so on, equally many on each; then the
// fabric switches that reduce (SHARP).
class GroupLayout {
 public:
  // A fabric switch of the reduction tree.
  struct Reducer {
    std::optional<uint32_t> parent;  // Index of a later reducer; nullopt: root.
    friend auto operator<=>(const Reducer&, const Reducer&) = default;
  };

  // Returns a layout with group ranks 0 .. ranks_per_server - 1 on the first
  // server, and so on. The ranks of a server are on rails 0, 1, ... Requires
  // both numbers to be at least 1.
  static GroupLayout Even(uint32_t num_servers, uint32_t ranks_per_server,
                          uint32_t nv_switches_per_server = 0);

  // Returns such a layout for servers with different numbers of ranks.
  static GroupLayout Uneven(absl::Span<const uint32_t> ranks_of_server,
                            uint32_t nv_switches_per_server = 0);

  // Returns the layout of the group of `ranks`, in group order, on `topology`.
  // The rail of a rank is its GPU's position in its server. Servers are
  // numbered in the order of their lowest group rank. NVSwitches count if all
  // servers have equally many and each is linked to all of the group's ranks
  // there.
  static GroupLayout Of(absl::Span<const RankId> ranks,
                        const Topology& topology);

  uint32_t num_ranks() const {
    return static_cast<uint32_t>(server_of_.size());
  }
  uint32_t num_servers() const {
    return static_cast<uint32_t>(first_rank_.size()) - 1;
  }

  uint32_t server_of(GroupRank rank) const { return server_of_[rank.index()]; }
  uint32_t rail_of(GroupRank rank) const { return rail_of_[rank.index()]; }
  // Returns the position of `rank` in ranks_of(server_of(rank)).
  uint32_t local_of(GroupRank rank) const { return local_of_[rank.index()]; }

  // Returns the ranks of a server by increasing rail.
  absl::Span<const GroupRank> ranks_of(uint32_t server) const {
    return absl::MakeConstSpan(ranks_).subspan(
        first_rank_[server], first_rank_[server + 1] - first_rank_[server]);
  }

  // Fewest and most ranks of a server.
  uint32_t min_ranks_per_server() const { return min_ranks_per_server_; }
  uint32_t max_ranks_per_server() const { return max_ranks_per_server_; }
  bool is_even() const {
    return min_ranks_per_server_ == max_ranks_per_server_;
  }

  uint32_t nv_switches_per_server() const { return nv_switches_per_server_; }
  GroupRank nv_switch(uint32_t server, uint32_t position) const {
    return GroupRank(num_ranks() + server * nv_switches_per_server_ + position);
  }

  // Returns the tree of fabric switches, children before parents; it is empty
  // unless SetReducers was called. Rank r sends to reducer(leaf_of(r)).
  absl::Span<const Reducer> reducers() const { return reducers_; }
  GroupRank reducer(uint32_t position) const {
    return GroupRank(num_ranks() + num_servers() * nv_switches_per_server_ +
                     position);
  }
  uint32_t leaf_of(GroupRank rank) const { return leaf_of_[rank.index()]; }
  void SetReducers(std::vector<Reducer> reducers,
                   std::vector<uint32_t> leaf_of);

  uint32_t num_switches() const {
    return num_servers() * nv_switches_per_server_ +
           static_cast<uint32_t>(reducers_.size());
  }

  friend auto operator<=>(const GroupLayout&, const GroupLayout&) = default;

 private:
  GroupLayout() = default;
  static GroupLayout FromServers(std::vector<uint32_t> server_of,
                                 std::vector<uint32_t> rail_of,
                                 uint32_t nv_switches_per_server);

  std::vector<uint32_t> server_of_;  // Server of each rank.
  std::vector<uint32_t> rail_of_;    // Rail of each rank.
  std::vector<uint32_t> local_of_;   // Position of each rank on its server.
  // By server: begin in ranks_; and the end.
  std::vector<uint32_t> first_rank_;
  std::vector<GroupRank> ranks_;  // Ranks, grouped by server.
  uint32_t min_ranks_per_server_ = 0;
  uint32_t max_ranks_per_server_ = 0;
  uint32_t nv_switches_per_server_ = 0;
  std::vector<Reducer> reducers_;
  std::vector<uint32_t> leaf_of_;  // Index of the leaf of each rank.
};

// Returns the nodes of the ranks and NVSwitches of the group, in the order of
// members. The nodes of reducers are known to the caller of SetReducers.
std::vector<NodeId> MemberNodes(absl::Span<const RankId> ranks,
                                const GroupLayout& layout,
                                const Topology& topology);

}  // namespace astra

#endif  // COLLECTIVES_GROUP_LAYOUT_H_
