// How many blocks of the KV cache a replica has room for.
//
//   all      blocks = (share x memory - overhead - weights - workspace) / block
//   static   blocks = (share x memory - weights) / block, or with a reserve
//            blocks = (memory - overhead - reserve - weights) / block
//   free     blocks = share x (memory - overhead - weights - workspace) / block
//
// of the fullest pipeline stage, by what the engine's share is of
// (MemoryShareOf): a GPU's memory without the CUDA context and NCCL
// (kDeviceOverhead), the weights, and the workspace of a step with the most
// positions. A block holds the keys and values of a few positions, of all
// layers of the stage that keep them as long as the sequence runs, in BF16, or
// in FP8 where the layout says so, and a draft model's lie on the last stage.
// What a sequence holds beside them are blocks as well (HeldBlocks): the state
// of linear attention, and what layers with a sliding window keep of its
// positions, where the engine gives back those that have left it. Both are
// bytes over those of a block, rounded up; a full window is one block of
// positions longer than it has to be. vLLM keeps all of them in one pool of
// blocks ("Hybrid KV Cache Manager" in its design documents). Engines print the
// number of blocks; it is best taken from there.
//
// On a stage none of whose layers keeps all positions a sequence takes the same
// bytes at any length, states and full windows. Such a stage limits how many
// sequences run, and not the blocks. If all stages of a model are of this kind,
// there are the blocks that so many of the longest sequences (max_positions, or
// a million where the model does not say) would need, so that the blocks limit
// nothing.
//
// Left out: graphs; that a step which computes a prompt holds all of its chunk
// in layers with windows, too; and windows of models all of whose layers have
// one, which are counted in full length.

#ifndef ASTRA_CORE_SERVING_CACHE_MEMORY_H_
#define ASTRA_CORE_SERVING_CACHE_MEMORY_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/serving/step_prices.h"
#include "collectives/inference_engines/serving_facts.h"
#include "workload/models/model_spec.h"
#include "workload/operators/gpu_spec.h"
#include "workload/serving/batching_options.h"

namespace astra {

struct CacheBlock {
  Bytes bytes;
  HeldBlocks held = {};
};

// Says how an engine uses the cache, and what lies in the memory beside it.
struct CacheUse {
  int64_t step_tokens = 1;                        // The most of a step.
  bool frees_windows = false;                     // See SchedulerKind.
  std::optional<ModelSpec> draft = std::nullopt;  // A model that makes drafts.
};

struct CacheRoom {
  int64_t blocks = 0;  // Of all GPUs of a replica alike.
  // Sequences for which stages without blocks have room; none: any number.
  std::optional<int64_t> max_sequences;
  // Of one GPU of the fullest stage, but for what a sequence holds: that is the
  // most of any stage.
  Bytes weights;
  Bytes workspace;
  CacheBlock block;
};

// Sets the blocks and what a sequence holds of them, and lowers the sequences
// that may run to those for which there is room.
void UseRoom(const CacheRoom& room, BatchingOptions* options);

// Returns the memory of a GPU that CUDA reports: `cuda_gib`, or 99 % of what
// the maker states in GiB, which A100, H100, H200 and B200 report of theirs.
Bytes MemoryOf(const GpuSpec& gpu);

// Returns the bytes of the weights on a GPU of the stage where they are the
// most. Errors: those of InferenceBlueprint.
absl::StatusOr<Bytes> BytesOfWeights(const ModelSpec& model,
                                     const ServingLayout& layout);

// Returns the block with each number from the stage where it is the most.
// Errors: those of InferenceBlueprint.
absl::StatusOr<CacheBlock> CacheBlockOf(const ModelSpec& model,
                                        const ServingLayout& layout,
                                        const ServingFacts& facts,
                                        const CacheUse& use);

// Returns the room on GPUs of `memory`.
//
// Errors: those of InferenceBlueprint; FailedPrecondition if there is no room
// for a sequence of one token, with the sizes.
absl::StatusOr<CacheRoom> RoomForCache(const ModelSpec& model,
                                       const ServingLayout& layout,
                                       const ServingFacts& facts, Bytes memory,
                                       const CacheUse& use);

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_CACHE_MEMORY_H_
