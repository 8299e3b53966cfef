#include "astra-core/apps/serving/cache_blocks.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {

namespace {

// Uses the room, and warns where it is for fewer sequences than may run.
void Use(const CacheRoom& room, ServingJob& job, Warnings* warnings) {
  const int64_t before = job.options.max_sequences;
  UseRoom(room, &job.options);
  if (job.options.max_sequences == before) return;
  warnings->push_back(fmt::format(
      "at most {} sequences run, not {}: a pipeline stage has room for no more "
      "states and windows",
      job.options.max_sequences, before));
}

}  // namespace

absl::StatusOr<std::optional<CacheRoom>> SetCacheBlocks(std::string_view option,
                                                        ServingJob& job,
                                                        Warnings* warnings) {
  const Bytes memory = MemoryOf(job.gpu);
  const CacheUse use = {.step_tokens = job.options.max_batched_tokens,
                        .frees_windows = job.scheduler->frees_windows,
                        .draft = job.draft_model};
  const ServingFacts& facts = job.engine.serving;
  const absl::StatusOr<CacheRoom> room =
      RoomForCache(job.model, job.layout, facts, memory, use);
  const int64_t blocks = job.options.num_blocks;
  if (blocks == 0) {
    ASTRA_RETURN_IF_ERROR(room.status());
    Use(*room, job, warnings);
    return std::optional<CacheRoom>(*room);
  }
  if (room.ok()) Use(*room, job, warnings);
  ASTRA_ASSIGN_OR_RETURN(const CacheBlock block,
                         CacheBlockOf(job.model, job.layout, facts, use));
  job.options.num_blocks = blocks;
  job.options.held = block.held;
  // An engine whose log has the number may take another share of the memory
  // than its facts say, but not more than there is.
  if (absl::IsFailedPrecondition(room.status())) {
    warnings->push_back(fmt::format("--{} is {}, but there is {}", option,
                                    blocks,
                                    std::string(room.status().message())));
  } else if (room.ok() && blocks > (memory - room->weights).count() /
                                       room->block.bytes.count()) {
    warnings->push_back(fmt::format(
        "--{} is {}, a cache of {:.1f} GiB beside {:.1f} GiB of weights, but a "
        "GPU has {:.1f} GiB, in which the engine would have {} blocks",
        option, blocks, ToGib(room->block.bytes) * static_cast<double>(blocks),
        ToGib(room->weights), ToGib(memory), room->blocks));
  }
  return std::optional<CacheRoom>();
}

}  // namespace astra
