#include "astra-core/apps/serving/cache_blocks.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {

absl::StatusOr<std::optional<CacheRoom>> SetCacheBlocks(
    std::string_view option, const std::optional<ModelSpec>& draft,
    ServingJob& job, Warnings* warnings) {
  const Bytes memory = MemoryOf(job.gpu);
  const absl::StatusOr<CacheRoom> room =
      RoomForCache(job.model, job.layout, job.engine.serving, memory,
                   job.options.max_batched_tokens, draft);
  int64_t& blocks = job.options.num_blocks;
  if (blocks == 0) {
    ASTRA_RETURN_IF_ERROR(room.status());
    blocks = room->blocks;
    return std::optional<CacheRoom>(*room);
  }
  // An engine whose log has the number may take another share of the memory
  // than its facts say, but not more than there is.
  if (absl::IsFailedPrecondition(room.status())) {
    warnings->push_back(fmt::format("--{} is {}, but there is {}", option,
                                    blocks,
                                    std::string(room.status().message())));
  } else if (room.ok() &&
             blocks > (memory - room->weights).count() / room->block.count()) {
    warnings->push_back(fmt::format(
        "--{} is {}, a cache of {:.1f} GiB beside {:.1f} GiB of weights, but a "
        "GPU has {:.1f} GiB, in which the engine would have {} blocks",
        option, blocks, ToGib(room->block) * static_cast<double>(blocks),
        ToGib(room->weights), ToGib(memory), room->blocks));
  }
  return std::optional<CacheRoom>();
}

}  // namespace astra
