// Describes how a model is trained: the layout over GPUs, the batch, and the
// options of the framework.
//
//   world = TP x CP x DP x PP
//   global batch = DP x micro-batches x micro-batch
//
// Experts divide the same ranks of a stage in another way:
//
//   TP x CP x DP = ETP x EP x (replicas of each expert)

#ifndef WORKLOAD_GENERATOR_TRAINING_SETUP_H_
#define WORKLOAD_GENERATOR_TRAINING_SETUP_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "astra-core/base/release.h"
#include "workload/modules/module.h"
#include "workload/modules/overlaps.h"
#include "workload/parallel_plan.h"
#include "workload/pipeline/schedule.h"

namespace astra {

// Work that is repeated in the backward pass instead of keeping its result.
enum class Recompute : uint8_t {
  kNone,
  kSelective,  // Repeats recompute_modules.
  kFull,       // Repeats every block; only its input is kept.
};
constexpr std::string_view kRecomputeNames[] = {"none", "selective", "full"};

// Which blocks of a model chunk kFull repeats, for a number n.
//
// Source: Megatron-LM, megatron/core/transformer/transformer_block.py,
// _checkpointed_forward (--recompute-method, --recompute-num-layers).
enum class RecomputeMethod : uint8_t {
  kUniform,  // All, n at a time; only the input of the n is kept.
  kBlock,    // The first n of each chunk, one by one; the others none.
};
constexpr std::string_view kRecomputeMethodNames[] = {"uniform", "block"};

// States that are split over the ranks with the same weights.
//
// Source: Rajbhandari et al., "ZeRO", arXiv 1910.02054.
enum class Zero : uint8_t {
  kNone,       // Splits nothing: gradients are all-reduced.
  kOptimizer,  // ZeRO 1: optimizer states (Megatron's distributed optimizer).
  kGradients,  // ZeRO 2: also gradients, reduced in every micro-batch.
  kParameters  // ZeRO 3: also parameters, gathered per block (FSDP).
};

struct TrainingSetup {
  int64_t world_size = 1;
  int64_t tensor = 1;
  int64_t context = 1;
  int64_t pipeline = 1;
  int64_t virtual_stages = 1;  // Model chunks of a stage; see chunks().
  int64_t expert = 1;
  std::optional<int64_t> expert_tensor;  // None: equal to `tensor`.
  RankOrder order = {};

  int64_t micro_batch = 1;
  int64_t global_batch = 1;
  int64_t positions = 1;  // Length of a sequence, in positions.

  // None: DefaultSchedule(virtual_stages).
  std::optional<PipelineSchedule> schedule;

  // How blocks are spread over stages; see PartLayers().
  std::vector<int64_t> stage_layers;  // Blocks of each stage or of each part.
  std::optional<int64_t> first_stage_layers;
  std::optional<int64_t> last_stage_layers;
  bool account_for_embedding = false;  // The embedding counts as a block.
  bool account_for_loss = false;  // The logits with the loss count as a block.

  bool sequence_parallel = false;
  ContextMethod context_method = ContextMethod::kRing;
  Precision precision = Precision::kBf16;
  bool flash_attention = true;
  bool fused_loss = false;     // See CrossEntropy.
  int64_t loss_metrics = 0;    // See CrossEntropy.
  int64_t loss_workspace = 2;  // See CrossEntropy.
  Recompute recompute = Recompute::kNone;
  // Without a number every block by itself, uniformly. With kSelective the
  // method kBlock counts the first blocks of each model chunk, too.
  RecomputeMethod recompute_method = RecomputeMethod::kUniform;
  std::optional<int64_t> recompute_layers;
  // Full recomputation of a block ends with the last tensor that its backward
  // pass needs, as checkpoints of PyTorch do that are not reentrant: the
  // block's last product, whose output nothing keeps, is not run again.
  bool stops_recomputing = false;
  // What kSelective repeats, of the blocks that have it.
  RecomputeModules recompute_modules = RecomputeModule::kCoreAttention;
  bool fp8_activation_inputs = false;  // See ModuleContext.
  int64_t shared_output_bits = 0;      // See ModuleContext.
  Zero zero = Zero::kOptimizer;
  int64_t gradient_bytes = 4;  // Bytes of an accumulated and reduced gradient.
  int64_t moment_bytes = 4;    // Bytes of each of Adam's two moments.
  // With ZeRO 3: the shards of parameters and gradients are in FP32, and those
  // of parameters are also the weights of the optimizer.
  bool fp32_shards = false;
  bool overlap_gradients = false;  // Reduction overlaps the last backward pass.
  // Gathering overlaps the first forward pass.
  bool overlap_parameters = false;
  // With several chunks, messages between stages are on their way while the
  // stages compute. It counts in the memory; a simulation never waits to send.
  bool overlap_messages = true;
  std::optional<int64_t> bucket_size;  // In parameters, for both; see BucketOf.
  // ZeRO 1 only: how many of the ranks with the same parameters share the
  // states of the optimizer; none: all of them. With a group, gradients are
  // all-reduced.
  std::optional<int64_t> zero_group;
  // Bytes that the optimizer needs while it runs, for each parameter of this
  // rank's share. 0: one kernel updates everything in place, like FusedAdam of
  // Apex and Transformer Engine. 8: the operation stores the root of the second
  // moment and then the denominator, like PyTorch's AdamW.
  int64_t optimizer_workspace = 0;
  // Release of Transformer Engine that runs products and attention; empty: they
  // run elsewhere. It decides which buffers are kept; see module_memory.h and
  // keeps_both_outputs().
  Release transformer_engine;
  bool weights_in_experts = false;     // See ModuleContext.
  bool tensor_overlap = false;         // See ModuleContext.
  bool shared_expert_overlap = false;  // See ModuleContext.
  double expert_load = 1;              // See ModuleContext.
  int64_t expert_host_ns = 0;          // See ModuleContext.
  bool fused_experts = false;          // See ModuleContext.
  // Nanoseconds that an iteration takes beside its work: the loader of data,
  // logging, and whatever else GPUs wait for once an iteration.
  int64_t iteration_host_ns = 0;
  bool fp8_dispatch = false;
  int64_t vocabulary_divisor = 128;  // See PaddedVocabulary; 0: no padding.
  int64_t mtp_layers = 0;            // See token_prediction.h.

  int64_t data() const { return world_size / (tensor * context * pipeline); }
  // See ModuleContext. Attention by itself keeps its output, and so does
  // Transformer Engine from 2.8 on. Before, it kept the output after the
  // exchange, which is also the input of the next product, and exchanged it
  // once more in the backward pass (AttnFuncWithCPAndQKVOA2A).
  bool keeps_both_outputs() const {
    return transformer_engine.empty() || transformer_engine >= Release{2, 8};
  }
  PipelineSchedule pipeline_schedule() const;
  // Returns the model chunks of each stage: virtual_stages, or two where the
  // schedule requires two.
  int64_t chunks() const;
  int64_t micro_batches() const {
    return global_batch / (data() * micro_batch);
  }
  ParallelSizes sizes() const;
  ModuleContext module_context() const;
};

// Sets which collectives are hidden: those of `overlaps` that exist with the
// layout and the ZeRO stage of `setup`.
void SetOverlaps(const Overlaps& overlaps, bool has_shared_experts,
                 TrainingSetup& setup);

// Returns which collectives are hidden.
Overlaps OverlapsOf(const TrainingSetup& setup);

// Turns ZeRO 2 and 3 of several stages into what they are in frameworks whose
// stages stay whole from the first micro-batch to the last: ZeRO 1 whose
// collectives run block by block beside the first and the last micro-batch.
void KeepStagesWhole(TrainingSetup& setup);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_TRAINING_SETUP_H_
