// Broadcast and reduce along a chain, which is a ring that is not closed: every
// rank but the root sends or receives the whole buffer once.
//
//   broadcast   from the root to its successor, and so on, to its predecessor
//   reduce      from the root's successor to its successor, and so on, to the
//               root
//
// The buffer of S bytes is cut into a share for each channel; the chain of
// channel c is the ring of channel c, see ring.h, opened at the root. A share
// is cut into pieces that follow one another, see pipelined.h: with P pieces on
// each of n - 1 hops it takes (n + P - 2) (a + S/(P B)) with idle links, where
// a is the latency of a message and B the bandwidth of a rank's port. All but
// the last rank of a chain send S bytes.
//
// Source: NCCL's broadcast and reduce, which have no other algorithm.

#ifndef COLLECTIVES_ALGORITHMS_CHAIN_H_
#define COLLECTIVES_ALGORITHMS_CHAIN_H_

#include "absl/status/statusor.h"
#include "collectives/algorithms/pipelined.h"

namespace astra {

// Chunk c is the share of channel c. It goes by the name "ring".
//
// Errors: ResourceExhausted if there are too many flows to store.
absl::StatusOr<std::unique_ptr<const FlowGraph>> ChainPattern(
    const CollectiveRequest& request, Bytes bytes);

inline constexpr PatternAlgorithm kChainAlgorithm = {"ring", &ChainPattern,
                                                     true};

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_CHAIN_H_
