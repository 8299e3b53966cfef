// Algorithms that a user wrote down, and the collectives of a run that they
// carry out in place of those of the family.
//
// An algorithm fits collectives of its kind, over groups of its number of
// ranks, whose buffers are in a range of bytes. One for all-to-all also fits
// dispatches and combines of experts, which are all-to-alls. Rank i of the
// algorithm is rank i of the group. Of several that fit, the first is used.

#ifndef ASTRA_CORE_ENGINE_CUSTOM_COLLECTIVES_H_
#define ASTRA_CORE_ENGINE_CUSTOM_COLLECTIVES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/types/span.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/message_costs.h"
#include "collectives/schedules/custom_schedule.h"

namespace astra {

struct CustomCollective {
  std::string file;  // File of the schedule, for messages.
  CustomSchedule schedule;
  Bytes min_bytes;  // Smallest and largest buffer that it is used for.
  Bytes max_bytes{std::numeric_limits<int64_t>::max()};
  // Costs of its messages, where the group is in one server and where it is in
  // several. Costs of all messages of the run are added.
  MessageCosts one_server;
  MessageCosts several_servers;

  bool Fits(CollectiveKind kind, size_t num_ranks, Bytes bytes) const;
};

// Returns the first of `all` that fits; null if none does.
const CustomCollective* FindCustom(absl::Span<const CustomCollective> all,
                                   CollectiveKind kind, size_t num_ranks,
                                   Bytes bytes);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_CUSTOM_COLLECTIVES_H_
