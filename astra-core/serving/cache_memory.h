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
// positions. A block holds the keys and
// values of all layers of the stage, in BF16, or in FP8 where the layout says
// so, and a draft model's lie on the last stage. Engines print the number; it
// is best taken from there.
//
// Left out: graphs, and caches of windows, which are counted in full length.

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

struct CacheRoom {
  int64_t blocks = 0;  // Of all GPUs of a replica alike.
  // Of one GPU of the fullest stage.
  Bytes weights;
  Bytes workspace;
  Bytes block;
};

// Returns the memory of a GPU that CUDA reports: `cuda_gib`, or 99 % of what
// the maker states in GiB, which A100, H100, H200 and B200 report of theirs.
Bytes MemoryOf(const GpuSpec& gpu);

// Returns the bytes of the weights on a GPU of the stage where they are the
// most. Errors: those of InferenceBlueprint.
absl::StatusOr<Bytes> BytesOfWeights(const ModelSpec& model,
                                     const ServingLayout& layout);

// Returns the bytes of a block on a GPU of the stage where it has the most,
// beside those of a model that makes drafts. Errors: those of
// InferenceBlueprint.
absl::StatusOr<Bytes> BytesOfBlock(const ModelSpec& model,
                                   const ServingLayout& layout,
                                   const ServingFacts& facts);

// Returns the room on GPUs of `memory` for steps of at most `step_tokens`,
// beside a model that makes drafts, if there is one.
//
// Errors: those of InferenceBlueprint; FailedPrecondition if there is no room
// for a block, with the sizes.
absl::StatusOr<CacheRoom> RoomForCache(
    const ModelSpec& model, const ServingLayout& layout,
    const ServingFacts& facts, Bytes memory, int64_t step_tokens,
    const std::optional<ModelSpec>& draft = std::nullopt);

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_CACHE_MEMORY_H_
