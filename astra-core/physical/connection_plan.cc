#include "astra-core/physical/connection_plan.h"

#include <algorithm>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/hosts/bytes.h"

namespace astra {

size_t ConnectionPlan::IndexOfOutgoing(const ConnectionKey& key) const {
  const auto found = std::lower_bound(outgoing.begin(), outgoing.end(), key);
  ASTRA_CHECK(found != outgoing.end() && *found == key,
              "no connection for a message");
  return static_cast<size_t>(found - outgoing.begin());
}

std::string ClaimOf(std::string_view session, const ConnectionKey& key) {
  ByteWriter writer;
  writer.AddText(session);
  writer.Add32(key.source.index());
  writer.Add32(key.target.index());
  writer.Add32(key.channel);
  return writer.Take();
}

absl::StatusOr<ConnectionKey> ParseClaim(std::string_view session,
                                         std::string_view claim) {
  ByteReader reader(claim);
  const std::string of = reader.ReadText();
  ConnectionKey key;
  key.source = RankId(reader.Read32());
  key.target = RankId(reader.Read32());
  key.channel = reader.Read32();
  ASTRA_RETURN_IF_ERROR(reader.status());
  if (of != session) {
    return absl::PermissionDeniedError("the other end is of another run");
  }
  return key;
}

}  // namespace astra
