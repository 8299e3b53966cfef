// Which collectives training hides behind computation, where the layout has
// them.

#ifndef WORKLOAD_MODULES_OVERLAPS_H_
#define WORKLOAD_MODULES_OVERLAPS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace astra {

struct Overlaps {
  bool gradients = false;       // Reduction; ZeRO 2 and 3 always hide it.
  bool parameters = false;      // Gathering, with ZeRO 1.
  bool tensor = false;          // Of TP; only with sequence parallelism.
  bool shared_experts = false;  // Tokens travel while shared experts run.

  friend bool operator==(const Overlaps&, const Overlaps&) = default;
};

// Names of the members, in order.
constexpr std::string_view kOverlapNames[] = {"gradients", "parameters", "tp",
                                              "shared_experts"};

// Returns the overlaps of these names.
//
// Errors: InvalidArgument for an unknown name, and for one that stands there
// twice.
absl::StatusOr<Overlaps> ParseOverlaps(absl::Span<const std::string> names);

// Returns the names of `overlaps`.
std::vector<std::string_view> NamesOf(const Overlaps& overlaps);

}  // namespace astra

#endif  // WORKLOAD_MODULES_OVERLAPS_H_
