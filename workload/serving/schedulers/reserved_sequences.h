// What the schedulers of engines without paged memory share: a sequence starts
// with its whole prompt, and with blocks for `max_sequence_tokens` positions,
// or with all blocks if there are fewer.

#ifndef WORKLOAD_SERVING_SCHEDULERS_RESERVED_SEQUENCES_H_
#define WORKLOAD_SERVING_SCHEDULERS_RESERVED_SEQUENCES_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "astra-core/base/check.h"
#include "workload/serving/replica.h"
#include "workload/serving/schedulers/registry.h"

namespace astra {

// Lets every running sequence compute all that it can. Requires that each has
// its blocks.
inline void ContinueAll(Replica* replica, Batch* batch) {
  for (Sequence* const sequence : replica->running()) {
    if (sequence->under_way > 0) continue;
    const bool has_room =
        replica->Continue(sequence, sequence->todo(), false, batch);
    ASTRA_CHECK(has_room, "no room for request {}", sequence->request.id);
  }
}

inline int64_t MaxReservedTokens(const BatchingOptions& options) {
  return std::min(TokensOfAllBlocks(options), options.max_sequence_tokens);
}

// Starts waiting sequences while they find room.
inline void AdmitReserved(Replica* replica, Batch* batch) {
  const BatchingOptions& options = replica->options();
  const size_t max_running = static_cast<size_t>(options.max_sequences);
  while (!replica->waiting().empty() &&
         replica->running().size() < max_running) {
    const int64_t tokens =
        replica->Admit({.max_tokens = std::numeric_limits<int64_t>::max(),
                        .room_tokens = MaxReservedTokens(options),
                        .take_room = true},
                       batch);
    if (tokens == 0) return;
  }
}

}  // namespace astra

#endif  // WORKLOAD_SERVING_SCHEDULERS_RESERVED_SEQUENCES_H_
