// The longest that an iteration may take.

#ifndef ASTRA_CORE_ENGINE_TIME_LIMIT_H_
#define ASTRA_CORE_ENGINE_TIME_LIMIT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "astra-core/base/units.h"

namespace astra {

// The error that ends a run that goes beyond `limit`: Aborted, or
// ResourceExhausted if that is kMaxCollectiveTime.
absl::Status TooLong(TimePs limit, double share_done);

// Adds `time`, `repeats` times. No sum goes beyond kMaxCollectiveTime, where
// the run ends with an error.
void Add(int64_t repeats, TimePs time, TimePs& sum);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_TIME_LIMIT_H_
