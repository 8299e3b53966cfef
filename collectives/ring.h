// Ring collectives: every rank sends only to its successor, so every link of
// the ring carries the same load and its bandwidth is used in full.
//
// The buffer of S bytes is cut into C n chunks whose sizes differ by at most
// one byte; no byte is lost where C n does not divide S. There are C rings,
// called channels, and n chunks on each. An all-reduce takes 2 (n - 1) steps.
// In step s, the rank at position p of a ring sends the chunk of the rank at
// position p - s - 1 to the rank at position p + 1, as soon as that chunk has
// arrived from position p - 1. The first n - 1 steps reduce, and end with each
// chunk complete at its rank: alone, they are the reduce-scatter. The other n -
// 1 copy: alone, they are the all-gather.
//
//                   steps       bytes sent per rank   time with idle links
//   reduce-scatter  n - 1       S (n - 1)/n           (n - 1) (a + S/(n B))
//   all-gather      n - 1       S (n - 1)/n           (n - 1) (a + S/(n B))
//   all-reduce      2 (n - 1)   2 S (n - 1)/n         2 (n - 1) (a + S/(n B))
//
// where a is the latency of a message and B the bandwidth of a rank's port.
//
// With several servers there is a channel for each rank of a server, so that
// every NIC is used. Channel c enters an even server at local rank c and goes
// up to c - 1 (modulo the local ranks); it enters an odd server at c - 1 and
// goes down to c. So it crosses between servers on one rail, except from the
// last to the first where the number of servers is odd.
//
// Sources: P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms
// for clusters of workstations", J. Parallel Distrib. Comput. 69(2), 2009; the
// alternating channels are the concept behind NCCL_CROSS_NIC=2.

#ifndef COLLECTIVES_RING_H_
#define COLLECTIVES_RING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "collectives/collective_request.h"
#include "collectives/flow_graph.h"
#include "collectives/step_schedule.h"

namespace astra {

// How many rings a group of this shape uses: 1 on one server.
uint32_t NumRingChannels(const GroupShape& shape);

// The group ranks in the order of the ring of `channel`.
std::vector<GroupRank> RingOrder(const GroupShape& shape, uint32_t channel);

// Returns the messages of an all-reduce, reduce-scatter or all-gather. Flow
// (i C + c) n + p is what position p of channel c sends in the i-th step; chunk
// c n + r is the one of rank r on channel c.
//
// Errors: ResourceExhausted if they exceed FlowGraph::kMaxFlows: they grow with
// the square of n.
absl::StatusOr<FlowGraph> LowerRing(const CollectiveRequest& request);

// The same as steps; they are all alike.
StepSchedule RingSteps(CollectiveKind kind, const GroupShape& shape);

}  // namespace astra

#endif  // COLLECTIVES_RING_H_
