// The patterns of traffic by name: which rank sends to which.
//
//   incast         some ranks send to one
//   permutation    each rank sends to one other and receives from one other
//   all-to-all     each rank sends to each other
//
// To add one, write NAME.cc with a function from PatternShape to the receivers
// of each sender, declare it here, and add a line to the table in patterns.cc.
// A parameter that is new needs a field of PatternShape and a line in
// pattern_spec.cc.

#ifndef NETWORK_FRONTENDS_TRAFFIC_PATTERNS_H_
#define NETWORK_FRONTENDS_TRAFFIC_PATTERNS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"

namespace astra {

// Parameters that say who takes part. A pattern reads those that its entry
// names.
struct PatternShape {
  uint32_t num_ranks = 0;  // Ranks of the cluster.
  uint64_t seed = 0;       // Seed of what the pattern draws at random.

  RankId target;                    // Receiver of an incast.
  std::optional<uint32_t> senders;  // Number of senders; absent: all there are.
  uint32_t stride = 1;              // Distance from one sender to the next.
  std::optional<uint32_t> shift;    // Distance to the receiver; absent: drawn.
};

// A rank that sends, and the ranks that it sends to. A rank stands among the
// receivers once, and never is its own receiver.
struct PatternSender {
  RankId rank;
  std::vector<RankId> targets;
};

struct PatternEntry {
  std::string_view name;
  std::string_view description;             // One line.
  absl::Span<const std::string_view> keys;  // Parameters beside those of all.
  // Returns the senders, ordered by rank. Requires two ranks or more.
  //
  // Errors: InvalidArgument for a parameter that the cluster is too small for.
  absl::StatusOr<std::vector<PatternSender>> (*senders)(
      const PatternShape& shape);
};

// Returns all patterns, in the order of the list above.
absl::Span<const PatternEntry> Patterns();

// Returns the pattern `name`. Errors: InvalidArgument, with the nearest name.
absl::StatusOr<const PatternEntry*> FindPattern(std::string_view name);

// Sender i is rank target + (i + 1) stride, counted round the cluster. A stride
// of the GPUs of a server takes one GPU of each other server.
//
// Errors: InvalidArgument if there are fewer such ranks than senders.
absl::StatusOr<std::vector<PatternSender>> IncastSenders(
    const PatternShape& shape);

// Rank r sends to rank r + shift, counted round the cluster; without a shift to
// a rank that is drawn. Draws are uniform among the permutations that are one
// cycle over all ranks, of which none leaves a rank in its place.
//
// Errors: InvalidArgument for a shift that is no rank.
//
// Source of the draw: S. Sattolo, "An algorithm to generate a random cyclic
// permutation", Information Processing Letters 22(6), 1986.
absl::StatusOr<std::vector<PatternSender>> PermutationSenders(
    const PatternShape& shape);

// Rank r sends to r + 1, r + 2, and so on, in this order, so that the first
// messages of all ranks have different receivers.
//
// Errors: ResourceExhausted for more than kMostTrafficMessages pairs.
absl::StatusOr<std::vector<PatternSender>> AllToAllSenders(
    const PatternShape& shape);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_TRAFFIC_PATTERNS_H_
