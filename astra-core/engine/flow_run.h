// A collective that runs as messages on a network.
//
// A flow leaves once the flows it waits for have arrived and both its ranks
// have joined the collective: NCCL's receiver posts its buffer when its kernel
// runs. So a collective begins and ends rank by rank. Switches take part from
// the start.

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

// Which flows of a graph may leave. Memory: 33 B per member, and what is under
// way: flows that wait for a rank to join, and those that have some of the
// flows that they wait for, but not all.
class FlowRun {
 public:
  // Requires that switches send nothing before they have received something.
  explicit FlowRun(std::shared_ptr<const FlowGraph> graph);

  const FlowGraph& graph() const { return *graph_; }

  // The rank enters the collective, once. Appends the flows that may leave now,
  // in increasing order.
  void Join(GroupRank rank, std::vector<FlowId>* ready);

  // `flow` has arrived. Appends the flows that may leave now, in increasing
  // order, and those of its two ranks that have sent and received all that is
  // theirs.
  void Arrive(FlowId flow, std::vector<FlowId>* ready,
              std::vector<GroupRank>* finished);

  // Whether `member` has sent and received all that is its. A rank that has
  // nothing to send or receive is finished from the start; Arrive does not
  // name it.
  bool is_finished(GroupRank member) const {
    return missing_[member.index()] == 0;
  }

  bool is_done() const { return num_missing_ == 0; }
  uint64_t num_missing() const { return num_missing_; }

 private:
  bool IsReleased(FlowId flow);

  std::shared_ptr<const FlowGraph> graph_;
  std::vector<bool> joined_;       // By member.
  std::vector<uint64_t> missing_;  // By member: flows that have not arrived.
  // By rank: flows that wait for nothing but its joining.
  std::vector<std::vector<FlowId>> waiting_;
  // By flow that waits for several, of which some have arrived: how many are
  // missing.
  absl::flat_hash_map<uint64_t, uint32_t> partly_released_;
  uint32_t num_absent_;           // Ranks that have not joined.
  uint64_t num_missing_;          // Flows that have not arrived.
  std::vector<FlowId> released_;  // Scratch.
};

// Runs `graph` between `members`, the nodes of its members, all of which join
// at once, on a network that carries nothing else, and returns how long that
// took: at least `costs.least`. `layout` is that of the group, for costs by
// servers.
//
// Errors: Internal if the network stops delivering while flows are in flight.
absl::StatusOr<TimePs> RunFlowGraph(std::shared_ptr<const FlowGraph> graph,
                                    absl::Span<const NodeId> members,
                                    NetworkBackend& network,
                                    const MessageCosts& costs = {},
                                    const GroupLayout* layout = nullptr);

// A graph between the nodes of its members, behind which others may follow.
struct PlacedFlowGraph {
  std::shared_ptr<const FlowGraph> graph;
  absl::Span<const NodeId> members;
  MessageCosts costs;
  const GroupLayout* layout = nullptr;
};

// As RunFlowGraph, for several graphs that begin at once. Returns when the last
// one is done.
absl::StatusOr<TimePs> RunFlowGraphs(absl::Span<const PlacedFlowGraph> graphs,
                                     NetworkBackend& network);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_FLOW_RUN_H_
