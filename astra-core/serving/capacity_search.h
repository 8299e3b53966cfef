// The largest load that a deployment takes, or the least deployment that takes
// a load, by bisection over replays.
//
//   ASTRA_ASSIGN_OR_RETURN(
//       const Capacity capacity,
//       LargestRate(8, options, [&](double rate) { return ShareAt(rate); }));
//
// Definition: a load passes if at least `share` of its requests keep all
// limits; what else must hold is for `share_at` to say. The capacity is the
// largest rate that passed below which no rate was found that fails, within
// `precision` of the least rate that failed above it. That is Vidur's search
// (microsoft/vidur, vidur/config_optimizer, Agrawal et al., MLSys 2024), which
// bisects rates until 2.5 % are left; its own limit is the 99th percentile of
// the delay of scheduling.
//
// The search takes it that passing ends at one rate. A replay of finitely many
// requests is not quite monotone. Each run is kept, and is_monotone tells
// whether any rate that failed lies below one that passed.

#ifndef ASTRA_CORE_SERVING_CAPACITY_SEARCH_H_
#define ASTRA_CORE_SERVING_CAPACITY_SEARCH_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"

namespace astra {

// Rates in requests a second below this one count as none.
inline constexpr double kLeastCapacity = 0.01;

struct CapacityOptions {
  double share = 0.99;       // Of requests that must keep the limits.
  double precision = 0.025;  // Of the rate.
  int most_runs = 24;
  double least_rate = kLeastCapacity;
};

struct CapacityRun {
  double load = 0;  // Requests per second, or replicas.
  double share = 0;
  bool passes = false;
};

struct Capacity {
  double largest = 0;  // That passed; 0: none did.
  double failed = 0;   // The least above it that failed; 0: none did.
  bool is_monotone = true;
  bool is_precise = true;         // False where the runs ran out.
  std::vector<CapacityRun> runs;  // In the order of the search.
};

// Returns the share of requests that keep the limits under a load.
using ShareAtLoad = std::function<absl::StatusOr<double>(double load)>;

// Searches from `guess` on: doubles the rate until it fails, or halves it until
// it passes, and bisects (by ratios) between the two. Requires guess > 0.
// Errors: those of `share_at`.
absl::StatusOr<Capacity> LargestRate(double guess,
                                     const CapacityOptions& options,
                                     const ShareAtLoad& share_at);

// Returns the least whole number from 1 to `most` that passes: `largest` of the
// result, and `failed` is the largest below it that failed. Errors: as above.
absl::StatusOr<Capacity> LeastCount(int64_t guess, int64_t most,
                                    const CapacityOptions& options,
                                    const ShareAtLoad& share_at);

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_CAPACITY_SEARCH_H_
