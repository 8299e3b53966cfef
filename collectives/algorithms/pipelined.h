// From a pattern, which is a collective done in one go, to one whose chunks are
// cut into pieces that follow one another through the same pattern.
//
// If the largest message of the pattern exceeds Chunking::max_chunk, every
// chunk is cut into so many pieces of about equal size that none does; each of
// these is then cut into slices. A flow forwards a piece as soon as it has
// arrived, while the next is still on its way: with P pieces, d flows on the
// longest path and S bytes through the busiest port of bandwidth B, a
// collective takes about d (a + S/(P B)) + (P - 1) S/(P B) with idle links,
// where a is the latency of a message.
//
// A pair of members has up to two chunks under way: a piece waits until the one
// two chunks before it has been delivered between the same two members.
//
// Source: NCCL's connections, FIFOs of NCCL_STEPS = 8 slots of which a chunk of
// the Simple protocol takes 4 (src/include/device.h, collectives.h).

#ifndef COLLECTIVES_ALGORITHMS_PIPELINED_H_
#define COLLECTIVES_ALGORITHMS_PIPELINED_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "collectives/collective_request.h"
#include "collectives/flow_graph.h"
#include "collectives/step_schedule.h"

namespace astra {

// Returns `pattern` cut into pieces as the request's chunking says; `pattern`
// itself if that is one piece. The pieces are computed from those flows. Chunk
// p U + u is piece p of chunk u of U; flow p F + f, that of flow f of F.
//
// Errors: ResourceExhausted if there are more than FlowGraph::kMaxFlows flows,
// or more chunks than ids; `name` is that of the algorithm.
absl::StatusOr<std::unique_ptr<const FlowGraph>> Pipelined(
    std::string_view name, const CollectiveRequest& request,
    std::unique_ptr<const FlowGraph> pattern);

// An algorithm as its pattern for a buffer of `bytes`, in place of those of the
// request. (Where parts are of given sizes, as in an all-to-all-v, they stay.)
using PatternFunction = absl::StatusOr<std::unique_ptr<const FlowGraph>> (*)(
    const CollectiveRequest& request, Bytes bytes);

struct PatternAlgorithm {
  std::string_view name;
  PatternFunction pattern;
  // Whether NCCL always runs it with pieces that overlap: its steps are then
  // said to do so whatever the chunking, else only if there are pieces.
  bool is_pipelined = false;
};

// The messages and the steps of an algorithm, for the table of algorithms. A
// step consists of the flows that wait for equally many flows in a row; shares
// are those of a buffer that divides evenly.
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
