// All-reduces of few GPUs that read one another's buffers, as the kernels of
// inference engines do: in one shot or in two.
//
//              hops   a rank sends       a rank receives
//   one-shot   1      (n - 1) S          (n - 1) S
//   two-shot   2      2 S (n - 1)/n      2 S (n - 1)/n
//
// for a buffer of S bytes on n ranks. In one shot each rank reads the whole
// buffer of all others and adds them up by itself. In two, each rank reads its
// part of the buffer from all others and adds it up, and then reads the other
// sums from the ranks that have them. With idle links, a the latency of a
// message and B the bandwidth of a rank's port, they take a + (n - 1) S/B and
// 2 a + 2 S (n - 1)/(n B).
//
// Source: vLLM, csrc/custom_all_reduce.cuh.

#ifndef COLLECTIVES_ALGORITHMS_SHOTS_H_
#define COLLECTIVES_ALGORITHMS_SHOTS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "collectives/algorithms/pipelined.h"

namespace astra {

// Return the patterns. In one shot, chunk c is what channel c handles of the
// buffer; in two, chunk c n + r is what it handles of the part of rank r.
//
// Errors: ResourceExhausted if there are too many flows to store.
absl::StatusOr<std::unique_ptr<const FlowGraph>> OneShotPattern(
    const CollectiveRequest& request, Bytes bytes);
absl::StatusOr<std::unique_ptr<const FlowGraph>> TwoShotPattern(
    const CollectiveRequest& request, Bytes bytes);

inline constexpr PatternAlgorithm kOneShotAlgorithm = {"one_shot",
                                                       &OneShotPattern};
inline constexpr PatternAlgorithm kTwoShotAlgorithm = {"two_shot",
                                                       &TwoShotPattern};

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_SHOTS_H_
