// All-reduce across servers: NVSwitches add up and copy within a server, and
// the servers exchange on two binary trees.
//
// Let H be the ranks of the smallest server. The share of a channel is cut into
// H pieces, and the h-th rank of each server is its head of piece h, so that
// all NICs work on each channel. The ranks of a server send a piece to the
// NVSwitch, which sends the sum to the head. Heads add up what comes from their
// children in the tree and send it to their parent. The result comes back the
// same way, and the NVSwitch copies it to all ranks of the server. A head adds
// its own data to the sum itself; it receives what the NVSwitch copies, as in
// nvls.h.
//
// Half of the channels use each tree (see server_tree.h). Channel c uses
// NVSwitch c (modulo those of a server). Without Chunking::num_channels there
// are 2 channels.
//
//   a rank sends     S (1 - 1/m) to the NVSwitch, and for each of its H-th
//                    parts of S what a node of two trees sends: up to 3/2 S/H
//                    to other heads, and S/H to the NVSwitch
//   hops             4 + 2 log2 N
//
// for a buffer of S bytes, N servers of m ranks, in pieces that follow one
// another (see pipelined.h). With idle links it takes about (4 + 2 log2 N) a +
// 2 S/(H B), where a is the latency of a message and B the bandwidth of a NIC,
// if NICs are the bottleneck.
//
// Source: NCCL's NVLSTree (src/device/all_reduce.h, src/graph/connect.cc).

#ifndef COLLECTIVES_ALGORITHMS_NVLS_TREE_H_
#define COLLECTIVES_ALGORITHMS_NVLS_TREE_H_

#include "absl/status/statusor.h"
#include "collectives/algorithms/pipelined.h"

namespace astra {

// Returns the pattern, in which chunk c H + h is what head h handles on channel
// c.
//
// Errors: FailedPrecondition unless the group is on several servers, each with
// an NVSwitch that all of its ranks are linked to; ResourceExhausted if there
// are too many flows to store.
absl::StatusOr<std::unique_ptr<const FlowGraph>> NvlsTreePattern(
    const CollectiveRequest& request, Bytes bytes);

inline constexpr PatternAlgorithm kNvlsTreeAlgorithm = {"nvls_tree",
                                                        &NvlsTreePattern, true};

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_NVLS_TREE_H_
