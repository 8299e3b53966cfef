// Ring collectives: every rank sends only to its successor, so every link of
// the ring carries the same load and its bandwidth is used in full.
//
// The part of the buffer that belongs to a rank, one of n, is cut into C
// pieces; no byte is lost if C n does not divide S. There are C rings, called
// channels, and n chunks on each. An all-reduce takes 2 (n - 1) steps. In step
// s, the rank at position p of a ring sends the chunk of the rank at position p
// - s - 1 to the rank at position p + 1, as soon as this chunk has arrived from
// position p - 1. The first n - 1 steps reduce and leave each chunk complete at
// its rank; alone, they are the reduce-scatter. The other n - 1 steps copy;
// alone, they are the all-gather.
//
//                   steps       bytes sent per rank   time with idle links
//   reduce-scatter  n - 1       S (n - 1)/n           (n - 1) (a + S/(n B))
//   all-gather      n - 1       S (n - 1)/n           (n - 1) (a + S/(n B))
//   all-reduce      2 (n - 1)   2 S (n - 1)/n         2 (n - 1) (a + S/(n B))
//
// where a is the latency of a message and B the bandwidth of a rank's port.
//
// A chunk that would exceed Chunking::max_chunk is cut into L chunks of about
// equal size, and the steps are run L times; each run is a loop. A rank begins
// a loop when the last message of the loop before has arrived. A chunk is sent
// as K messages, called slices: slice k of a step waits for slice k of the step
// before. This hides the latency if it is less than the time of the other K - 1
// slices; the bytes then determine the time of all steps.
//
// A channel goes through the servers in turn, and through each server's ranks
// in the order of rails. It enters a server on the rail on which it left the
// one before, if the group has a rank there. Channel c enters the first server
// at local rank c and goes up to c - 1 (modulo the local ranks), goes down in
// the second, and so on by turns. Between even servers it thus crosses on one
// rail, except from the last to the first if the number of servers is odd. If
// the group has no rank on this rail, the channel enters a server at local rank
// c where it goes up, and at c - 1 where it goes down.
//
// Sources: P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms
// for clusters of workstations", J. Parallel Distrib. Comput. 69(2), 2009. The
// alternating channels are the concept behind NCCL_CROSS_NIC=2. Loops, chunks
// and slices are those of NCCL's ring kernels.

#ifndef COLLECTIVES_ALGORITHMS_RING_H_
#define COLLECTIVES_ALGORITHMS_RING_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "collectives/collective_request.h"
#include "collectives/flow_graph.h"
#include "collectives/step_schedule.h"

namespace astra {

// Returns the group ranks in the order of the ring of `channel`. Channels
// beyond the number of ranks of the smallest server repeat the orders.
std::vector<GroupRank> RingOrder(const GroupLayout& layout, uint32_t channel);

// Returns the messages of an all-reduce, reduce-scatter or all-gather. The
// graph computes them from their numbers and stores little but the orders.
//
// With T steps, flow ((((l T + i) C + c) K + k) n + p is slice k of what
// position p of channel c sends in the i-th step of loop l, and chunk ((l C +
// c) K + k) n + r is slice k of what belongs to rank r.
//
// Errors: ResourceExhausted if there are more flows than FlowGraph::kMaxFlows.
absl::StatusOr<std::unique_ptr<const FlowGraph>> LowerRing(
    const CollectiveRequest& request);

// Returns the same messages as steps, which are all alike.
absl::StatusOr<StepSchedule> RingSteps(const CollectiveRequest& request);

// Other rings for the same messages: channel c has order c, modulo the number
// of orders. Each order holds all ranks. `name` is for errors.
struct Rings {
  std::string_view name;
  uint32_t num_channels = 1;
  std::vector<std::vector<GroupRank>> orders;
};
absl::StatusOr<std::unique_ptr<const FlowGraph>> LowerRings(
    const CollectiveRequest& request, Rings rings);
StepSchedule RingsSteps(const CollectiveRequest& request, const Rings& rings);

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_RING_H_
