// Tells how many bytes a sequence of some length takes in the caches of GPUs.
//
//   ASTRA_ASSIGN_OR_RETURN(const std::vector<SequenceCache> stages,
//                          SequenceCachesOf(model, layout));
//   double bytes = stages.front().BytesOf(tokens);
//
// Model. Layers are of three kinds: most keep the keys and values of all
// positions, those with a sliding window only of the last ones, and those with
// linear attention a state of one size. So
//
//   bytes(tokens) = fixed + full x tokens + windowed x min(tokens, window)
//
// which the modules of the model give (ModuleMemory::cache) at one and two
// positions, and where the window is full and one position later. Keys and
// values take half in FP8; states are in FP32 whatever the cache is in.

#ifndef ASTRA_CORE_SERVING_SEQUENCE_CACHE_H_
#define ASTRA_CORE_SERVING_SEQUENCE_CACHE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/serving/step_prices.h"
#include "workload/models/model_spec.h"

namespace astra {

// Describes what a GPU of a pipeline stage keeps of each sequence.
struct SequenceCache {
  double fixed_bytes = 0;             // State of a sequence of any length.
  double bytes_per_token = 0;         // Of layers that keep all positions.
  double window_bytes_per_token = 0;  // Of layers that keep the last ones.
  int64_t window = 0;                 // How many those are.

  double BytesOf(int64_t tokens) const {
    return fixed_bytes + bytes_per_token * static_cast<double>(tokens) +
           window_bytes_per_token *
               static_cast<double>(std::min(tokens, window));
  }
};

// Returns the caches of all pipeline stages, in their order. Errors: those of
// InferenceBlueprint.
absl::StatusOr<std::vector<SequenceCache>> SequenceCachesOf(
    const ModelSpec& model, const ServingLayout& layout);

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_SEQUENCE_CACHE_H_
