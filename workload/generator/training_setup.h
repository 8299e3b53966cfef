// How a model is trained: the layout over GPUs, the batch, and what the
// framework was told.
//
//   world = TP x CP x DP x PP
//   global batch = DP x micro-batches x micro-batch
//
// and the experts' own view of the ranks of a stage: TP x CP x DP = ETP x EP x
// (replicas of each expert).

#ifndef WORKLOAD_GENERATOR_TRAINING_SETUP_H_
#define WORKLOAD_GENERATOR_TRAINING_SETUP_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "workload/modules/module.h"
#include "workload/parallel_plan.h"
#include "workload/pipeline/schedule.h"

namespace astra {

// What is run once more in the backward pass instead of being kept.
enum class Recompute : uint8_t {
  kNone,
  kSelective,  // The scores of attention.
  kFull,       // Every block; only its input is kept.
};
constexpr std::string_view kRecomputeNames[] = {"none", "selective", "full"};

// What is split over the ranks with the same weights.
//
// Source: Rajbhandari et al., "ZeRO", arXiv 1910.02054.
enum class Zero : uint8_t {
  kNone,       // Nothing: gradients are all-reduced.
  kOptimizer,  // 1: optimizer states; Megatron's distributed optimizer.
  kGradients,  // 2: also gradients, reduced in every micro-batch.
  kParameters  // 3: also parameters, gathered block by block; FSDP.
};

struct TrainingSetup {
  int64_t world_size = 1;
  int64_t tensor = 1;
  int64_t context = 1;
  int64_t pipeline = 1;
  int64_t virtual_stages = 1;  // See chunks().
  int64_t expert = 1;
  std::optional<int64_t> expert_tensor;  // None: as `tensor`.

  int64_t micro_batch = 1;
  int64_t global_batch = 1;
  int64_t positions = 1;  // The sequence length.

  // None: 1F1B, interleaved where there are virtual stages.
  std::optional<PipelineSchedule> schedule;

  // How blocks are spread over stages; see PartLayers().
  std::vector<int64_t> stage_layers;  // Of each stage, or of each part.
  std::optional<int64_t> first_stage_layers;
  std::optional<int64_t> last_stage_layers;
  bool account_for_embedding = false;  // It counts as a block.
  bool account_for_loss = false;       // It and the logits do.

  bool sequence_parallel = false;
  ContextMethod context_method = ContextMethod::kRing;
  Precision precision = Precision::kBf16;
  bool flash_attention = true;
  bool fused_loss = false;  // See CrossEntropy.
  Recompute recompute = Recompute::kNone;
  Zero zero = Zero::kOptimizer;
  int64_t gradient_bytes = 4;       // Of an accumulated and reduced gradient.
  bool overlap_gradients = false;   // Reduced behind the last backward pass.
  bool overlap_parameters = false;  // Gathered behind the first forward pass.
  std::optional<int64_t> bucket_size;  // Of both, in parameters; see BucketOf.
  // With ZeRO 1: how many of the ranks with the same parameters share the
  // states of the optimizer; none: all of them. Gradients are then all-reduced.
  std::optional<int64_t> zero_group;
  // Bytes that the optimizer needs while it runs, for each parameter of this
  // rank's share. 0: one kernel updates all in place, as FusedAdam of Apex and
  // Transformer Engine does. 8: PyTorch's AdamW makes the root of the second
  // moment and then the denominator.
  int64_t optimizer_workspace = 0;
  // Transformer Engine from 2.3 on keeps one BF16 gradient, which nobody reads,
  // for each shape of weights: it returns the gradient in place of the one that
  // the product has already added to the sum.
  bool weight_gradient_buffers = false;
  bool tensor_overlap = false;         // See ModuleContext.
  bool shared_expert_overlap = false;  // The same.
  double expert_load = 1;              // See ModuleContext.
  bool fp8_dispatch = false;
  int64_t vocabulary_divisor = 128;  // See PaddedVocabulary; 0: not padded.

  int64_t data() const { return world_size / (tensor * context * pipeline); }
  PipelineSchedule pipeline_schedule() const;
  // The model chunks of each stage: virtual_stages, but two where the schedule
  // needs two.
  int64_t chunks() const;
  int64_t micro_batches() const {
    return global_batch / (data() * micro_batch);
  }
  ParallelSizes sizes() const;
  ModuleContext module_context() const;
};

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_TRAINING_SETUP_H_
