// PAT, parallel aggregated trees: all-gather and reduce-scatter on as many
// trees as there are ranks. The messages of one step travel together, so it
// takes about log2 n steps instead of the n - 1 of a ring.
//
// In the all-gather, the part of rank r goes along a binomial tree with root r.
// For d = 2^k down to 1, beginning with the largest power of two below n, every
// rank that has the part and is 2 d i ranks behind r sends it to the rank d
// further on, if this is less than n behind r. What a rank sends in a step is
// one message if its chunks are in a row. They are if n is a power of two,
// since chunks are ordered by the bits of r, the lowest first. Otherwise a step
// takes a few messages. The reduce-scatter is the all-gather backwards.
//
// Few of the n parts travel far at once and many near; in Bruck's algorithm
// large messages go far. Each rank sends and receives S (n - 1)/n of a buffer
// of S bytes. With idle links it takes ceil(log2 n) a + S (n - 1)/(n B), where
// a is the latency of a message and B the bandwidth of a rank's port.
//
// Source: S. Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter
// operations at scale", arXiv:2506.20252, 2025 (NCCL 2.23). Left out: its limit
// on the parts that are sent at once.

#ifndef COLLECTIVES_ALGORITHMS_PAT_H_
#define COLLECTIVES_ALGORITHMS_PAT_H_

#include "absl/status/statusor.h"
#include "collectives/algorithms/pipelined.h"

namespace astra {

// Returns the pattern, in which channel c handles its share of each part.
//
// Errors: ResourceExhausted if there are too many flows to store.
absl::StatusOr<std::unique_ptr<const FlowGraph>> PatPattern(
    const CollectiveRequest& request, Bytes bytes);

inline constexpr PatternAlgorithm kPatAlgorithm = {"pat", &PatPattern};

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_PAT_H_
