// The messages of one collective, and which messages must arrive before another
// is sent.
//
// A graph answers questions about single flows, so it need not store all of
// them. The ring of a large group computes its flows from their numbers, and
// memory grows only with what is in flight. Irregular graphs are stored; see
// FlowGraph::Builder.
//
// The members of a graph are the ranks of its group, then the switches that
// reduce or multicast for it, in the order of GroupLayout.
//
// The buffer of a collective is a range of bytes, cut into chunks:
//
//   all-reduce, broadcast, reduce   the buffer that every rank has
//   all-gather, reduce-scatter,     the larger buffer, part r of which belongs
//   gather, scatter                 to rank r; see CollectiveRequest::Part
//   all-to-all, send-recv           the parts that all ranks send, ordered by
//                                   sender, then receiver

#ifndef COLLECTIVES_FLOW_GRAPH_H_
#define COLLECTIVES_FLOW_GRAPH_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"

namespace astra {

// What the receiver does with the chunks that arrive.
enum class FlowOp : uint8_t { kCopy, kReduce };

// A message of `num_chunks` chunks, from `first_chunk` on, from `source` to
// `target`. It may carry 0 bytes and then still costs the latency of a message,
// as in NCCL.
struct Flow {
  GroupRank source;
  GroupRank target;
  ChunkId first_chunk;
  uint32_t num_chunks = 1;
  Bytes bytes;  // Bytes of all its chunks.
  uint16_t channel = 0;
  FlowOp op = FlowOp::kCopy;
};
static_assert(sizeof(Flow) == 32, "a graph may hold 10^8 of them");

// A range of bytes of the buffer.
struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }

  friend auto operator<=>(const ByteRange&, const ByteRange&) = default;
};

// An immutable directed acyclic graph of flows. If a flow waits for another
// one, its source is the source or the target of the other.
class FlowGraph {
 public:
  class Builder;

  // Largest number of flows that a graph may have, and that it may store.
  static constexpr uint64_t kMaxFlows = uint64_t{1} << 40;
  static constexpr uint64_t kMaxStoredFlows = uint64_t{1} << 27;

  virtual ~FlowGraph() = default;
  FlowGraph(const FlowGraph&) = delete;
  FlowGraph& operator=(const FlowGraph&) = delete;

  uint32_t num_ranks() const { return num_ranks_; }
  uint32_t num_members() const { return num_members_; }
  uint64_t num_flows() const { return num_flows_; }
  uint32_t num_chunks() const { return num_chunks_; }

  virtual Flow flow(FlowId id) const = 0;

  // Returns the range of `chunk`. Chunks do not overlap and cover the buffer.
  virtual ByteRange chunk(ChunkId chunk) const = 0;

  // Returns how many flows must be delivered before `id` may be sent.
  virtual uint32_t num_dependencies(FlowId id) const = 0;

  // Appends the flows that wait for `id`, in increasing order.
  virtual void AppendDependents(FlowId id, std::vector<FlowId>* out) const = 0;

  // Appends the flows from `source` that wait for none, in increasing order.
  virtual void AppendFirstFlows(GroupRank source,
                                std::vector<FlowId>* out) const = 0;

  // Returns how many flows `member` sends or receives.
  virtual uint64_t num_flows_of(GroupRank member) const = 0;

  // Returns by how much the numbers of corresponding flows of successive rounds
  // differ, if most rounds consist of the same flows: flow i + n and its
  // dependents are flow i and its dependents, each moved by n. Every round has
  // as many flows of each member. There may be long rounds that consist of
  // shorter ones; the longest come first.
  virtual std::vector<uint64_t> flows_per_round() const { return {}; }

 protected:
  struct Size {
    uint32_t num_ranks = 0;
    uint32_t num_members = 0;
    uint64_t num_flows = 0;
    uint32_t num_chunks = 0;
  };
  explicit FlowGraph(const Size& size)
      : num_ranks_(size.num_ranks),
        num_members_(size.num_members),
        num_flows_(size.num_flows),
        num_chunks_(size.num_chunks) {}

 private:
  uint32_t num_ranks_;
  uint32_t num_members_;
  uint64_t num_flows_;
  uint32_t num_chunks_;
};

// Builds a stored graph: 40 B per flow, 4 B per edge, 16 B per chunk.
class FlowGraph::Builder {
 public:
  // Begins the graph of a group of `num_ranks` and `num_switches`.
  explicit Builder(uint32_t num_ranks, uint32_t num_switches = 0)
      : num_ranks_(num_ranks), num_members_(num_ranks + num_switches) {}

  ChunkId AddChunk(ByteRange range);

  // Appends a flow of chunks that were added, between two different members.
  // Computes its `bytes` from the chunks. Allows at most kMaxStoredFlows.
  FlowId Add(Flow flow);

  // Makes `later` wait until `earlier` is delivered. Requires that `earlier`
  // was added first, which makes every graph acyclic.
  void AddDependency(FlowId earlier, FlowId later);

  uint64_t num_flows() const { return flows_.size(); }

  std::unique_ptr<const FlowGraph> Build() &&;

 private:
  uint32_t num_ranks_;
  uint32_t num_members_;
  std::vector<ByteRange> chunks_;
  std::vector<Flow> flows_;
  std::vector<std::pair<uint32_t, uint32_t>> edges_;  // (waited for, waiting).
};

}  // namespace astra

#endif  // COLLECTIVES_FLOW_GRAPH_H_
