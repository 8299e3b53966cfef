// All-reduce with switches of the fabric that add up what servers send and
// return the sum to all of them (SHARP).
//
//   collnet_direct  Within a server, every rank sends each head its piece of
//                   the buffer; heads add up, exchange with the fabric, and
//                   send the result to the other ranks. The h-th rank of each
//                   server is head of piece h of H, the ranks of the smallest
//                   server: all NICs work on any one channel.
//   collnet_chain   Within a server, the ranks form a chain that ends at its
//                   head, the only one that exchanges with the fabric on that
//                   channel; heads of a channel are on one rail.
//
// A head sends to its leaf of the tree of reducers, and each reducer to its
// parent what the heads and reducers below it have sent. The root has the sum,
// which comes back the same way.
//
//                   hops          bytes a head sends to the fabric
//   collnet_direct  4 + 2 d       S/H
//   collnet_chain   2 m + 2 d     S/C on each channel that it is head of
//
// for a buffer of S bytes on C channels, m ranks on a server, and d levels of
// reducers below the root; in pieces that follow one another, see pipelined.h.
// All ranks together send 2 (n - N) S bytes within their N servers and N S to
// the fabric.
//
// Source: NCCL's CollNetDirect and CollNetChain (src/device/all_reduce.h); R.
// L. Graham et al., "Scalable Hierarchical Aggregation Protocol (SHARP)",
// COMHPC 2016.

#ifndef COLLECTIVES_ALGORITHMS_COLLNET_H_
#define COLLECTIVES_ALGORITHMS_COLLNET_H_

#include "absl/status/statusor.h"
#include "collectives/algorithms/pipelined.h"

namespace astra {

// Chunk c H + h is what head h does on channel c; in a chain, chunk c is the
// share of channel c.
//
// Errors: FailedPrecondition if the layout has no reducers; ResourceExhausted
// if there are too many flows to store.
absl::StatusOr<std::unique_ptr<const FlowGraph>> CollnetDirectPattern(
    const CollectiveRequest& request, Bytes bytes);
absl::StatusOr<std::unique_ptr<const FlowGraph>> CollnetChainPattern(
    const CollectiveRequest& request, Bytes bytes);

inline constexpr PatternAlgorithm kCollnetDirectAlgorithm = {
    "collnet_direct", &CollnetDirectPattern, true};
inline constexpr PatternAlgorithm kCollnetChainAlgorithm = {
    "collnet_chain", &CollnetChainPattern, true};

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_COLLNET_H_
