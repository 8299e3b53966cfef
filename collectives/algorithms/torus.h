// All-reduce on a torus: the ranks lie on a grid of 2 or 3 dimensions. They
// reduce-scatter along the rings of one dimension after the other, then
// all-gather along the same rings in the reverse order.
//
// The sizes of the dimensions are the factors of n, all at least 2, whose sum
// is the smallest; the largest comes first. Rank r is at r mod d0 in the first
// dimension, r/d0 mod d1 in the second, and so on, so that the ranks of a
// server tend to be on one ring. Channel c begins with dimension c (modulo
// their number), so that several channels use all links of a real torus at
// once.
//
//   steps 2 sum(d - 1)     bytes sent per rank 2 S (n - 1)/n
//
// With idle links it takes 2 sum(d - 1) a + 2 S (n - 1)/(n B), where a is the
// latency of a message and B the bandwidth of a rank's port. For a ring the
// first term is 2 (n - 1) a.
//
// Source: H. Mikami et al., "Massively Distributed SGD: ImageNet/ResNet-50
// Training in a Flash", arXiv:1811.05233, 2018 (2D-torus all-reduce).

#ifndef COLLECTIVES_ALGORITHMS_TORUS_H_
#define COLLECTIVES_ALGORITHMS_TORUS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "collectives/algorithms/pipelined.h"

namespace astra {

// Returns the sizes of the dimensions of `n` ranks, the largest first. Returns
// none if `n` is not a product of `num_dimensions` factors of at least 2.
// Requires 2 or 3 dimensions.
std::vector<uint32_t> TorusSizes(uint32_t n, uint32_t num_dimensions);

// Return the patterns, in which channel c handles its share of each of n parts.
//
// Errors: FailedPrecondition if `n` has no such factors; ResourceExhausted if
// there are too many flows to store.
absl::StatusOr<std::unique_ptr<const FlowGraph>> Torus2dPattern(
    const CollectiveRequest& request, Bytes bytes);
absl::StatusOr<std::unique_ptr<const FlowGraph>> Torus3dPattern(
    const CollectiveRequest& request, Bytes bytes);

inline constexpr PatternAlgorithm kTorus2dAlgorithm = {"torus_2d",
                                                       &Torus2dPattern};
inline constexpr PatternAlgorithm kTorus3dAlgorithm = {"torus_3d",
                                                       &Torus3dPattern};

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_TORUS_H_
