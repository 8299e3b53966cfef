// All-gather and reduce-scatter on as many trees as there are ranks, whose
// messages of one step travel together: about log2 n steps instead of the n - 1
// of a ring (PAT, parallel aggregated trees).
//
// In the all-gather, the part of rank r goes along a binomial tree with root r:
// for d = 2^k down to 1, the largest power of two below n first, every rank
// that has it and is 2 d i ranks behind r sends it to the rank d further on, if
// that is less than n behind r. What a rank sends in a step is one message if
// its chunks are in a row. They are where n is a power of two, since chunks are
// ordered by the bits of r, the lowest first; else a message falls into a few.
// The reduce-scatter is the all-gather backwards.
//
// All n parts travel at once, few of them far and many near: in contrast to
// Bruck's algorithm, which sends far what is large. Each rank sends and
// receives S (n - 1)/n of a buffer of S bytes. With idle links it takes
// ceil(log2 n) a + S (n - 1)/(n B), where a is the latency of a message and B
// the bandwidth of a rank's port.
//
// Source: S. Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter
// operations at scale", arXiv:2506.20252, 2025 (NCCL 2.23). Left out: its limit
// on the parts that are sent at once.

#ifndef COLLECTIVES_ALGORITHMS_PAT_H_
#define COLLECTIVES_ALGORITHMS_PAT_H_

#include "absl/status/statusor.h"
#include "collectives/algorithms/pipelined.h"

namespace astra {

// Channel c does its share of each part.
//
// Errors: ResourceExhausted if there are too many flows to store.
absl::StatusOr<std::unique_ptr<const FlowGraph>> PatPattern(
    const CollectiveRequest& request, Bytes bytes);

inline constexpr PatternAlgorithm kPatAlgorithm = {"pat", &PatPattern};

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_PAT_H_
