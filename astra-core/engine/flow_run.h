// Runs a collective as messages on a network.
//
// A flow leaves once the flows it waits for have arrived and both its ranks
// have joined the collective: NCCL's receiver posts its buffer when its kernel
// runs. So each rank begins and ends the collective at its own time. Switches
// have joined from the start.

#ifndef ASTRA_CORE_ENGINE_FLOW_RUN_H_
#define ASTRA_CORE_ENGINE_FLOW_RUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/engine/message_costs.h"
#include "collectives/flow_graph.h"
#include "collectives/group_layout.h"
#include "network-frontends/network_backend.h"

namespace astra {

// Tells which flows of a graph may leave. Memory: 33 B per member, plus the
// flows that wait for a rank to join, and the flows of which only some
// dependencies have arrived.
class FlowRun {
 public:
  // Requires that a switch sends nothing before it has received something.
  explicit FlowRun(std::shared_ptr<const FlowGraph> graph);

  const FlowGraph& graph() const { return *graph_; }

  // Lets `rank` join the collective; called once per rank. Appends the flows
  // that may leave now, in increasing order.
  void Join(GroupRank rank, std::vector<FlowId>* ready);

  // Records that `flow` has arrived. Appends to `ready` the flows that may
  // leave now, in increasing order, and to `finished` those of its two ranks
  // that have sent and received all their flows.
  void Arrive(FlowId flow, std::vector<FlowId>* ready,
              std::vector<GroupRank>* finished);

  // Returns whether `member` has sent and received all its flows. A rank
  // without flows is finished from the start, and Arrive does not name it.
  bool is_finished(GroupRank member) const {
    return missing_[member.index()] == 0;
  }

  // Returns a number that is equal in equal states, with flows counted from
  // the first of `round`, one of the rounds of the graph that have `per_round`
  // flows. Requires that all ranks have joined.
  uint64_t StateFrom(uint64_t round, uint64_t per_round) const;
  // Counts the flows of `rounds` more of these rounds as arrived, and what is
  // under way as so many rounds later.
  void Skip(uint64_t rounds, uint64_t per_round);

  bool is_done() const { return num_missing_ == 0; }
  uint64_t num_missing() const { return num_missing_; }

 private:
  bool IsReleased(FlowId flow);

  std::shared_ptr<const FlowGraph> graph_;
  std::vector<bool> joined_;       // By member.
  std::vector<uint64_t> missing_;  // By member: its flows to come.
  // By rank: flows that wait only for this rank to join.
  std::vector<std::vector<FlowId>> waiting_;
  // By flow with several dependencies of which some have arrived: how many are
  // missing.
  absl::flat_hash_map<uint64_t, uint32_t> partly_released_;
  uint32_t num_absent_;           // Ranks that have not joined.
  uint64_t num_missing_;          // Flows that have not arrived.
  std::vector<FlowId> released_;  // Scratch.
};

// Runs `graph` between `members`, the nodes of its members, on a network that
// carries nothing else. All members join at once. Returns the time that the
// collective takes, at least `costs.least`. `layout` is the layout of the
// group, needed if costs within and between servers differ.
//
// Errors: Internal if the network stops delivering while flows are in flight.
absl::StatusOr<TimePs> RunFlowGraph(std::shared_ptr<const FlowGraph> graph,
                                    absl::Span<const NodeId> members,
                                    NetworkBackend& network,
                                    const MessageCosts& costs = {},
                                    const GroupLayout* layout = nullptr);

// A graph and the nodes of its members. `members` may be longer than the graph
// needs.
struct PlacedFlowGraph {
  std::shared_ptr<const FlowGraph> graph;
  absl::Span<const NodeId> members;
  MessageCosts costs;
  const GroupLayout* layout = nullptr;
};

// Runs several graphs that begin at once, as RunFlowGraph does. Returns when
// the last one is done.
absl::StatusOr<TimePs> RunFlowGraphs(absl::Span<const PlacedFlowGraph> graphs,
                                     NetworkBackend& network);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_FLOW_RUN_H_
