// Builds a stored flow graph and finds its dependencies: a flow waits for the
// flows that brought its chunks to its source.

#ifndef COLLECTIVES_ALGORITHMS_CAUSAL_BUILDER_H_
#define COLLECTIVES_ALGORITHMS_CAUSAL_BUILDER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "astra-core/base/ids.h"
#include "collectives/flow_graph.h"

namespace astra {

// Chunks that are sent together. All flows of a chunk use the same channel.
struct ChunkSpan {
  uint32_t first = 0;
  uint32_t count = 1;
  uint32_t channel = 0;
};

class CausalBuilder {
 public:
  explicit CausalBuilder(uint32_t num_ranks, uint32_t num_switches = 0)
      : builder_(num_ranks, num_switches) {}

  void AddChunk(ByteRange range) { builder_.AddChunk(range); }

  // Sends `chunks`, which `target` adds to its own.
  void Reduce(GroupRank source, GroupRank target, const ChunkSpan& chunks) {
    Send(FlowOp::kReduce, source, target, chunks);
  }

  // Sends `chunks`, which replace those that `target` has. Flows that send them
  // on from there wait for this flow, but not for earlier ones.
  void Copy(GroupRank source, GroupRank target, const ChunkSpan& chunks) {
    Send(FlowOp::kCopy, source, target, chunks);
  }

  std::unique_ptr<const FlowGraph> Build() &&;

 private:
  void Send(FlowOp op, GroupRank source, GroupRank target,
            const ChunkSpan& chunks);

  FlowGraph::Builder builder_;
  struct Arrival {
    uint32_t first_chunk;
    uint32_t end_chunk;
    FlowId flow;
  };
  // By member and channel: the flows that brought the chunks that the member
  // has.
  absl::flat_hash_map<uint64_t, std::vector<Arrival>> arrivals_;
};

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_CAUSAL_BUILDER_H_
