// Settles how many blocks of the KV cache a replica has.

#ifndef ASTRA_CORE_APPS_SERVING_CACHE_BLOCKS_H_
#define ASTRA_CORE_APPS_SERVING_CACHE_BLOCKS_H_

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/base/log.h"
#include "astra-core/serving/cache_memory.h"

namespace astra {

// Sets the blocks of the KV cache, unless `option` gave them, to those that the
// memory has room for beside a draft model, and returns the room; none if they
// were given. Sets what a sequence holds of them, too, and lowers the sequences
// that may run to those for which there is room. Warns of the latter, and of
// given blocks that no GPU can hold.
//
// Errors: those of RoomForCache.
absl::StatusOr<std::optional<CacheRoom>> SetCacheBlocks(std::string_view option,
                                                        ServingJob& job,
                                                        Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_CACHE_BLOCKS_H_
