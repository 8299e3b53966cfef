// Settles how many blocks of the KV cache a replica has.

#ifndef ASTRA_CORE_APPS_SERVING_CACHE_BLOCKS_H_
#define ASTRA_CORE_APPS_SERVING_CACHE_BLOCKS_H_

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/base/log.h"
#include "astra-core/serving/cache_memory.h"
#include "workload/models/model_spec.h"

namespace astra {

// Sets the blocks of the KV cache, unless `option` gave them, to those that the
// memory has room for beside `draft`, and returns the room; none if they were
// given. Sets those that a sequence holds whatever its length, too. Warns of
// given blocks that no GPU can hold.
//
// Errors: those of RoomForCache.
absl::StatusOr<std::optional<CacheRoom>> SetCacheBlocks(
    std::string_view option, const std::optional<ModelSpec>& draft,
    ServingJob& job, Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_CACHE_BLOCKS_H_
