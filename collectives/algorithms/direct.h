// Collectives in which each rank sends straight to the ranks that need its
// data, all at once.
//
//                flows     bytes sent by
//   all-to-all   n (n-1)   each rank, its parts for the others; S (n - 1)/n if
//                          all parts are equal
//   send-recv    1         rank 0, S
//   gather       n - 1     each rank but the root, its part, S/n
//   scatter      n - 1     the root, S (n - 1)/n
//
// With idle links a rank is done after a + b/B, where a is the latency of a
// message, B the bandwidth of the busiest port and b the bytes through it.
//
// Pairs with nothing to send exchange a message of 0 bytes. The number of
// channels has no effect; max_chunk and slices cut the messages (see
// pipelined.h).
//
// Source: NCCL's point-to-point collectives, ncclSend and ncclRecv in one
// group. As there, rank i begins with rank i + 1, so that not all ranks begin
// with the same one.

#ifndef COLLECTIVES_ALGORITHMS_DIRECT_H_
#define COLLECTIVES_ALGORITHMS_DIRECT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "collectives/collective_request.h"
#include "collectives/flow_graph.h"
#include "collectives/step_schedule.h"

namespace astra {

// Returns the messages of an all-to-all, send-recv, gather or scatter. The
// graph computes them from their numbers.
//
//   all-to-all, send-recv   flow (d - 1) n + i goes from rank i to rank i + d
//                           (modulo n); chunk i n + j goes from i to j
//   gather, scatter         flow d - 1 goes from or to rank root + d (modulo
//                           n); chunk r is the one of rank r
//
// Errors: ResourceExhausted if there are more flows than FlowGraph::kMaxFlows,
// or more chunks than ids: an all-to-all has n^2 chunks.
absl::StatusOr<std::unique_ptr<const FlowGraph>> LowerDirect(
    const CollectiveRequest& request);

// Returns the same messages as one step.
absl::StatusOr<StepSchedule> DirectSteps(const CollectiveRequest& request);

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_DIRECT_H_
