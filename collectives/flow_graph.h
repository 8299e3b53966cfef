// The messages of one collective, and which must arrive before which is sent.

#ifndef COLLECTIVES_FLOW_GRAPH_H_
#define COLLECTIVES_FLOW_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"

namespace astra {

// What the receiver does with the chunk that arrives.
enum class FlowOp : uint8_t { kCopy, kReduce };

// A message: `bytes` of `chunk`, from `source` to `target`. It may carry 0
// bytes; it then still costs the latency of a message, as in NCCL.
struct Flow {
  GroupRank source;
  GroupRank target;
  ChunkId chunk;
  FlowOp op;
  Bytes bytes;
};
static_assert(sizeof(Flow) == 24, "a graph may hold 10^8 of them");

// An immutable directed acyclic graph of flows. Ranks are positions in the
// group, so all groups of one size share one graph. Memory: 40 B per flow and
// 4 B per edge.
class FlowGraph {
 public:
  class Builder;

  // The most flows that a graph may hold: 4 GiB of them.
  static constexpr int64_t kMaxFlows = int64_t{1} << 27;

  uint32_t num_ranks() const { return num_ranks_; }
  size_t num_flows() const { return flows_.size(); }
  const Flow& flow(FlowId id) const { return flows_[id.index()]; }

  // How many flows must be delivered before `id` may be sent.
  uint32_t num_dependencies(FlowId id) const {
    return num_dependencies_[id.index()];
  }

  // The flows that wait for `id`, in increasing order.
  absl::Span<const FlowId> dependents(FlowId id) const {
    const uint32_t begin = first_dependent_[id.index()];
    const uint32_t end = first_dependent_[id.index() + 1];
    return absl::MakeConstSpan(dependents_).subspan(begin, end - begin);
  }

  // The flows that `rank` sends or receives, in increasing order.
  absl::Span<const FlowId> flows_of(GroupRank rank) const {
    const uint32_t begin = first_flow_[rank.index()];
    const uint32_t end = first_flow_[rank.index() + 1];
    return absl::MakeConstSpan(flows_of_).subspan(begin, end - begin);
  }

 private:
  FlowGraph() = default;

  uint32_t num_ranks_ = 0;
  std::vector<Flow> flows_;
  std::vector<uint32_t> num_dependencies_;  // One per flow.
  std::vector<uint32_t> first_dependent_;   // One per flow, and the end.
  std::vector<FlowId> dependents_;          // Grouped by the flow waited for.
  std::vector<uint32_t> first_flow_;        // One per rank, and the end.
  std::vector<FlowId> flows_of_;            // Grouped by rank.
};

class FlowGraph::Builder {
 public:
  // Begins the graph of a group of `num_ranks`.
  explicit Builder(uint32_t num_ranks) : num_ranks_(num_ranks) {}

  // Appends a flow between two different ranks of the group.
  FlowId Add(const Flow& flow);

  // Makes `later` wait until `earlier` is delivered. Requires that `earlier`
  // was added first, which makes every graph acyclic.
  void AddDependency(FlowId earlier, FlowId later);

  FlowGraph Build() &&;

 private:
  uint32_t num_ranks_;
  std::vector<Flow> flows_;
  std::vector<std::pair<FlowId, FlowId>> edges_;  // (waited for, waiting).
};

}  // namespace astra

#endif  // COLLECTIVES_FLOW_GRAPH_H_
