// A collective that runs as messages on a network.
//
// A flow leaves once the flows it waits for have arrived and both its ranks
// have joined the collective: NCCL's receiver posts its buffer when its kernel
// runs. So a collective begins and ends rank by rank.

#ifndef ASTRA_CORE_ENGINE_FLOW_RUN_H_
#define ASTRA_CORE_ENGINE_FLOW_RUN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectives/flow_graph.h"
#include "network-frontends/network_backend.h"

namespace astra {

class FlowRun {
 public:
  explicit FlowRun(std::shared_ptr<const FlowGraph> graph);

  const FlowGraph& graph() const { return *graph_; }

  // The rank enters the collective, once. Appends the flows that may leave now.
  void Join(GroupRank rank, std::vector<FlowId>* ready);

  // `flow` has arrived. Appends the flows that may leave now, and those of its
  // two ranks that have sent and received all that is theirs.
  void Arrive(FlowId flow, std::vector<FlowId>* ready,
              std::vector<GroupRank>* finished);

  bool is_done() const { return num_missing_ == 0; }
  size_t num_missing() const { return num_missing_; }

 private:
  void Release(FlowId flow, std::vector<FlowId>* ready);

  std::shared_ptr<const FlowGraph> graph_;
  std::vector<uint32_t> holds_;    // By flow: what it still waits for.
  std::vector<uint32_t> missing_;  // By rank: flows that have not arrived.
  size_t num_missing_;             // Flows that have not arrived.
};

// Runs `graph` between the ranks of `group`, all of which join at once, on a
// network that carries nothing else, and returns how long that took.
//
// Errors: Internal if the network stops delivering while flows are in flight.
absl::StatusOr<TimePs> RunFlowGraph(std::shared_ptr<const FlowGraph> graph,
                                    absl::Span<const RankId> group,
                                    NetworkBackend& network);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_FLOW_RUN_H_
