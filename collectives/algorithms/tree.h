// All-reduce on two binary trees of servers.
//
// The buffer of S bytes is cut into a share for each channel. The first half of
// the channels uses one tree of servers, and the others use the second, in
// which the inner servers of the first are leaves (see server_tree.h). The
// ranks of a server form a chain that ends at the server's tree rank, which
// exchanges with the tree ranks of other servers. Sums go up the chain and the
// tree to the root, then the result comes back the same way. Without
// Chunking::num_channels there is 1 channel on one server. On several there are
// two for each rank of the smallest server; the rank is the tree rank of both,
// once in each tree.
//
// Each of the 2 (n - 1) messages of a channel carries its share of S, in pieces
// that follow one another (see pipelined.h). All ranks together thus send 2 (n
// - 1) S bytes, and no rank more than 2 S. With m ranks on each of N servers, a
// the latency of a message, P pieces, B the bandwidth of the busiest port and
// idle links, it takes about 2 (m - 1 + log2 N) (a + S/(P B)) + 2 S/B.
//
// Sources: NCCL's tree all-reduce (src/graph/trees.cc,
// src/device/all_reduce.h); S. Jeaugey, "Massively Scale Your Deep Learning
// Training with NCCL 2.4", 2019.

#ifndef COLLECTIVES_ALGORITHMS_TREE_H_
#define COLLECTIVES_ALGORITHMS_TREE_H_

#include "absl/status/statusor.h"
#include "collectives/algorithms/pipelined.h"

namespace astra {

// Returns the pattern, in which chunk c is the share of channel c.
//
// Errors: ResourceExhausted if there are too many flows to store.
absl::StatusOr<std::unique_ptr<const FlowGraph>> TreePattern(
    const CollectiveRequest& request, Bytes bytes);

inline constexpr PatternAlgorithm kTreeAlgorithm = {"tree", &TreePattern, true};

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_TREE_H_
