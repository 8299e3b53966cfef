// All-reduce, reduce-scatter and all-gather by recursive halving and doubling.
//
// With n = 2^k ranks, rank v exchanges in step s = 0, 1, ... with rank v + 2^s
// or v - 2^s, whichever agrees with it in all other bits. It sends the half of
// its remaining data that the other rank is to keep, and adds what it receives.
// After k steps each rank has the sum of one part, which is the reduce-scatter.
// The all-gather is the same backwards. Large messages thus go to near ranks
// and small ones to far ranks.
//
// clang-format off
//                   steps      bytes sent per rank  time with idle links
//   reduce-scatter  log2 n     S (n - 1)/n          a log2 n + S (n-1)/(n B)
//   all-gather      log2 n     S (n - 1)/n          a log2 n + S (n-1)/(n B)
//   all-reduce      2 log2 n   2 S (n - 1)/n        twice the above
// clang-format on
//
// where a is the latency of a message and B the bandwidth of a rank's port.
//
// With n = 2^k + e ranks, 0 < e < 2^k, the first 2 e ranks form pairs. The even
// rank of a pair gives the odd one its data: S bytes, or its part in an
// all-gather. The odd rank acts for both and gives the even one its result at
// the end. This takes two more steps; in a reduce-scatter or all-gather, one of
// them has little weight.
//
// Sources: R. Rabenseifner, "Optimization of Collective Reduction Operations",
// ICCS 2004; R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective
// Communication Operations in MPICH", IJHPCA 19(1), 2005.

#ifndef COLLECTIVES_ALGORITHMS_HALVING_DOUBLING_H_
#define COLLECTIVES_ALGORITHMS_HALVING_DOUBLING_H_

#include "absl/status/statusor.h"
#include "collectives/algorithms/pipelined.h"

namespace astra {

// Returns the pattern, in which channel c handles its share of each part.
//
// Errors: ResourceExhausted if there are too many flows to store.
absl::StatusOr<std::unique_ptr<const FlowGraph>> HalvingDoublingPattern(
    const CollectiveRequest& request, Bytes bytes);

inline constexpr PatternAlgorithm kHalvingDoublingAlgorithm = {
    "halving_doubling", &HalvingDoublingPattern};

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_HALVING_DOUBLING_H_
