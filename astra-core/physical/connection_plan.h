// The connections that a rank needs in a physical run, and how the two ends of
// a connection name it.

#ifndef ASTRA_CORE_PHYSICAL_CONNECTION_PLAN_H_
#define ASTRA_CORE_PHYSICAL_CONNECTION_PLAN_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"

namespace astra {

// Names a connection, which carries messages from one rank to another. Messages
// of one key are sent one after the other, as over one queue pair of a
// simulated network. `channel` tells the connections of a pair of ranks apart.
struct ConnectionKey {
  RankId source;
  RankId target;
  uint32_t channel = 0;

  friend auto operator<=>(const ConnectionKey&, const ConnectionKey&) = default;
};

// The connections of `rank`, each once, in increasing order.
struct ConnectionPlan {
  RankId rank;
  std::vector<ConnectionKey> outgoing;
  std::vector<ConnectionKey> incoming;

  // Returns the position of a planned connection in `outgoing`.
  size_t IndexOfOutgoing(const ConnectionKey& key) const;
};

// Returns the claim of a handshake for a connection of a run, which the
// coordinator has named `session`.
std::string ClaimOf(std::string_view session, const ConnectionKey& key);

// Returns the key of which ClaimOf() made `claim`.
//
// Errors: InvalidArgument if `claim` is no claim; PermissionDenied if it is of
// another session.
absl::StatusOr<ConnectionKey> ParseClaim(std::string_view session,
                                         std::string_view claim);

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_CONNECTION_PLAN_H_
