// Broadcast and reduce along a chain, which is an open ring: every rank but the
// root sends or receives the whole buffer once.
//
//   broadcast   from the root to its successor, and so on, to its predecessor
//   reduce      from the root's successor to its successor, and so on, to the
//               root
//
// The buffer of S bytes is cut into a share for each channel. The chain of
// channel c is the ring of channel c (see ring.h), opened at the root. A share
// is cut into pieces that follow one another (see pipelined.h). With P pieces
// on each of n - 1 hops and idle links, the collective takes (n + P - 2) (a +
// S/(P B)), where a is the latency of a message and B the bandwidth of a rank's
// port. All ranks of a chain but the last send S bytes.
//
// Source: NCCL's broadcast and reduce, which have no other algorithm.

#ifndef COLLECTIVES_ALGORITHMS_CHAIN_H_
#define COLLECTIVES_ALGORITHMS_CHAIN_H_

#include "absl/status/statusor.h"
#include "collectives/algorithms/pipelined.h"

namespace astra {

// Returns the pattern of a chain, in which chunk c is the share of channel c.
// The algorithm is registered as "ring".
//
// Errors: ResourceExhausted if there are too many flows to store.
absl::StatusOr<std::unique_ptr<const FlowGraph>> ChainPattern(
    const CollectiveRequest& request, Bytes bytes);

inline constexpr PatternAlgorithm kChainAlgorithm = {"ring", &ChainPattern,
                                                     true};

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_CHAIN_H_
