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
// What a sequence holds whatever its length, rounded up, are blocks as well:
//
//   window / positions of a block + 1    of layers with a sliding window, where
//                                        the engine gives back what has left it
//   the state of linear attention        over the bytes of a block
//
// vLLM keeps both beside the other layers in one pool of blocks ("Hybrid KV
// Cache Manager" in its design documents). Engines print the number of blocks;
// it is best taken from there.
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

namespace astra {

struct CacheBlock {
  Bytes bytes;
  int64_t of_sequence = 0;  // That a sequence holds beside its positions.
};

// What shares the memory with the cache, and how it is used.
struct CacheUse {
  int64_t step_tokens = 1;                        // The most of a step.
  bool frees_windows = false;                     // See SchedulerKind.
  std::optional<ModelSpec> draft = std::nullopt;  // A model that makes drafts.
};

struct CacheRoom {
  int64_t blocks = 0;  // Of all GPUs of a replica alike.
  // Of one GPU of the fullest stage.
  Bytes weights;
  Bytes workspace;
  CacheBlock block;  // And the most `of_sequence` of any stage.
};

// Returns the memory of a GPU that CUDA reports: `cuda_gib`, or 99 % of what
// the maker states in GiB, which A100, H100, H200 and B200 report of theirs.
Bytes MemoryOf(const GpuSpec& gpu);

// Returns the bytes of the weights on a GPU of the stage where they are the
// most. Errors: those of InferenceBlueprint.
absl::StatusOr<Bytes> BytesOfWeights(const ModelSpec& model,
                                     const ServingLayout& layout);

// Returns the block of the stages where either number is the most, beside those
// of a model that makes drafts. Errors: those of InferenceBlueprint.
absl::StatusOr<CacheBlock> CacheBlockOf(const ModelSpec& model,
                                        const ServingLayout& layout,
                                        const ServingFacts& facts,
                                        bool frees_windows);

// Returns the room on GPUs of `memory`.
//
// Errors: those of InferenceBlueprint; FailedPrecondition if there is no room
// for a block of a sequence, with the sizes.
absl::StatusOr<CacheRoom> RoomForCache(const ModelSpec& model,
                                       const ServingLayout& layout,
                                       const ServingFacts& facts, Bytes memory,
                                       const CacheUse& use);

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_CACHE_MEMORY_H_
