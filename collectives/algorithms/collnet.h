// All-reduce with switches of the fabric that add up what servers send and
// return the sum to all of them (SHARP).
//
//   collnet_direct  Within a server, every rank sends each head its piece of
//                   the buffer; heads add up, exchange with the fabric, and
//                   send the result to the other ranks. The h-th rank of each
//                   server is head of piece h of H, where H is the number of
//                   ranks of the smallest server. All NICs thus work on each
//                   channel.
//   collnet_chain   Within a server, the ranks form a chain that ends at its
//                   head, the only rank that exchanges with the fabric on this
//                   channel. The heads of a channel are on one rail.
//
// A head sends to its leaf of the tree of reducers. Each reducer sends its
// parent the sum of what the heads and reducers below it have sent. The root
// has the whole sum, which comes back the same way.
//
//                   hops          bytes a head sends to the fabric
//   collnet_direct  4 + 2 d       S/H
//   collnet_chain   2 m + 2 d     S/C on each channel that it is head of
//
// for a buffer of S bytes on C channels, m ranks on a server, and d levels of
// reducers below the root, in pieces that follow one another (see pipelined.h).
// All ranks together send 2 (n - N) S bytes within their N servers and N S to
// the fabric.
//
// Sources: NCCL's CollNetDirect and CollNetChain (src/device/all_reduce.h); R.
// L. Graham et al., "Scalable Hierarchical Aggregation Protocol (SHARP)",
// COMHPC 2016.

#ifndef COLLECTIVES_ALGORITHMS_COLLNET_H_
#define COLLECTIVES_ALGORITHMS_COLLNET_H_

#include "absl/status/statusor.h"
#include "collectives/algorithms/pipelined.h"

namespace astra {

// Return the patterns. In collnet_direct, chunk c H + h is what head h handles
// on channel c. In collnet_chain, chunk c is the share of channel c.
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
