// Cuts the chunks of a pattern into pieces. A pattern is the graph of a
// collective that sends each chunk whole; the pieces follow one another through
// it.
//
// If the largest message of the pattern exceeds Chunking::max_chunk, every
// chunk is cut into the fewest pieces of about equal size such that none does.
// Each piece is then cut into slices. A rank forwards a piece as soon as it has
// arrived, while the next is still on its way. With P pieces, d flows on the
// longest path, S bytes through the busiest port of bandwidth B, a the latency
// of a message and idle links, a collective takes about d (a + S/(P B)) + (P -
// 1) S/(P B).
//
// A pair of members has up to two chunks under way: a piece waits until the
// piece two chunks before it has been delivered between the same two members.
//
// Source: NCCL's connections, which are FIFOs of NCCL_STEPS = 8 slots; a chunk
// of the Simple protocol takes 4 slots (src/include/device.h, collectives.h).

#ifndef COLLECTIVES_ALGORITHMS_PIPELINED_H_
#define COLLECTIVES_ALGORITHMS_PIPELINED_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "collectives/collective_request.h"
#include "collectives/flow_graph.h"
#include "collectives/step_schedule.h"

namespace astra {

// Returns `pattern` cut into pieces by the request's chunking, or `pattern`
// itself if this is one piece. The graph computes the pieces from the flows of
// the pattern. Chunk p U + u is piece p of chunk u of U; flow p F + f is piece
// p of flow f of F.
//
// Errors: ResourceExhausted if there are more flows than FlowGraph::kMaxFlows,
// or more chunks than ids; `name` is the name of the algorithm.
absl::StatusOr<std::unique_ptr<const FlowGraph>> Pipelined(
    std::string_view name, const CollectiveRequest& request,
    std::unique_ptr<const FlowGraph> pattern);

// Returns the pattern of an algorithm for a buffer of `bytes`, which replaces
// the size of the request. Parts of given sizes, as in an all-to-all-v, stay.
using PatternFunction = absl::StatusOr<std::unique_ptr<const FlowGraph>> (*)(
    const CollectiveRequest& request, Bytes bytes);

struct PatternAlgorithm {
  std::string_view name;
  PatternFunction pattern;
  // True if NCCL always runs the algorithm with pieces that overlap. Its steps
  // then count as pipelined, whatever the chunking. Otherwise they are
  // pipelined only if there are pieces.
  bool is_pipelined = false;
};

// Return the messages and the steps of an algorithm, for the table of
// algorithms. The flows of a step are those that wait for equally many flows in
// a row. Shares are those of a buffer that divides evenly.
absl::StatusOr<std::unique_ptr<const FlowGraph>> LowerPattern(
    const PatternAlgorithm& algorithm, const CollectiveRequest& request);
absl::StatusOr<StepSchedule> PatternSteps(const PatternAlgorithm& algorithm,
                                          const CollectiveRequest& request);

template <const PatternAlgorithm& kAlgorithm>
absl::StatusOr<std::unique_ptr<const FlowGraph>> Lower(
    const CollectiveRequest& request) {
  return LowerPattern(kAlgorithm, request);
}
template <const PatternAlgorithm& kAlgorithm>
absl::StatusOr<StepSchedule> Steps(const CollectiveRequest& request) {
  return PatternSteps(kAlgorithm, request);
}

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_PIPELINED_H_
