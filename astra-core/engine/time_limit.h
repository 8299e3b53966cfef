// Limits the simulated time of an iteration.

#ifndef ASTRA_CORE_ENGINE_TIME_LIMIT_H_
#define ASTRA_CORE_ENGINE_TIME_LIMIT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "astra-core/base/units.h"

namespace astra {

// Returns the error of a run that goes beyond `limit`: ResourceExhausted if
// `limit` is kMaxCollectiveTime, otherwise Aborted.
absl::Status TooLong(TimePs limit, double share_done);

// Adds `repeats` times `time` to `sum`. The sum saturates at
// kMaxCollectiveTime, at which the run ends with an error.
void Add(int64_t repeats, TimePs time, TimePs& sum);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_TIME_LIMIT_H_
