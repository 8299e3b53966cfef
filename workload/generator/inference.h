// Builds one step of inference: the prefill of prompts, or a decode step.

#ifndef WORKLOAD_GENERATOR_INFERENCE_H_
#define WORKLOAD_GENERATOR_INFERENCE_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "workload/generator/blueprint.h"
#include "workload/models/model_spec.h"
#include "workload/operators/gpu_spec.h"

namespace astra {

enum class InferencePhase : uint8_t {
  kPrefill,  // Computes all positions of the prompts.
  kDecode,   // Computes one position of each sequence, or a few with drafts.
};

struct InferenceSetup {
  InferencePhase phase = InferencePhase::kPrefill;
  int64_t world_size = 1;
  int64_t tensor = 1;
  int64_t pipeline = 1;
  int64_t expert = 1;
  // None: TP splits the experts like all other weights, unless EP spreads them.
  std::optional<int64_t> expert_tensor;
  int64_t batch = 1;  // Sequences in one step of a replica.
  // Prefill: prompt length; decode: positions in the cache.
  int64_t positions = 1;
  int64_t cached = 0;   // Prefill: positions already in the cache.
  int64_t queries = 1;  // Decode: positions of each sequence that it computes.
  Precision precision = Precision::kBf16;
  double expert_load = 1;
  bool fp8_dispatch = false;

  int64_t expert_tensor_size() const {
    return expert_tensor.value_or(expert == 1 ? tensor : 1);
  }
};

// Returns a forward pass of every stage, in one micro-batch. Each module takes
// on a rank the memory of its
//
//   weights    2 B for each parameter; 1 B in modules with products in FP8
//   cache      keys and values of the step's sequences, in BF16
//   workspace  the inputs and outputs of the largest operator, and the hidden
//              states that bypass it
//
// Other memory of a server is not counted: the cache of further sequences, CUDA
// graphs, buffers of NCCL.
//
// Errors: InvalidArgument for a layout that is not legal, naming the rule, and
// for a batch without positions.
absl::StatusOr<Blueprint> InferenceBlueprint(const ModelSpec& model,
                                             const InferenceSetup& setup);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_INFERENCE_H_
