// All-to-all in which data leaves a server only on the rail of its target
// (PXN).
//
// Data from rank i to rank j on another server goes over NVLink to the rank of
// i's server that is on j's rail. From there it goes over one NIC to j,
// together with what the other ranks of the server have for j. With m ranks on
// a server this is one message instead of m, and none crosses between rails.
// Within the server, and if the server has no rank on j's rail, i sends
// straight to j.
//
// With N servers of m ranks and parts of S/n bytes, a rank sends
//
//                         messages         parts in each
//   to its server         m - 1            1
//   to ranks that relay   (m - 1)(N - 1)   1
//   to its rail           N - 1            m
//
// With idle links, a and a' the latencies of NVLink and network and B the
// bandwidth of the NIC, if NICs are the bottleneck, it takes about a + a' + S
// (n - m)/(n B).
//
// The number of channels has no effect; max_chunk and slices cut the messages
// (see pipelined.h).
//
// Source: K. Bongale, S. Jeaugey et al., "Doubling all2all Performance with
// NVIDIA Collective Communication Library 2.12", 2022 (PXN).

#ifndef COLLECTIVES_ALGORITHMS_PXN_H_
#define COLLECTIVES_ALGORITHMS_PXN_H_

#include "absl/status/statusor.h"
#include "collectives/algorithms/pipelined.h"

namespace astra {

// Returns the pattern. Errors: ResourceExhausted if there are too many flows to
// store. Their number grows with n^2.
absl::StatusOr<std::unique_ptr<const FlowGraph>> PxnPattern(
    const CollectiveRequest& request, Bytes bytes);

inline constexpr PatternAlgorithm kPxnAlgorithm = {"pxn", &PxnPattern,
                                                   /*is_pipelined=*/true};

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_PXN_H_
