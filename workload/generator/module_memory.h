// Computes what each module of a training iteration keeps in the memory of a
// rank:
//
//   weights     2 B (BF16) for each parameter; with FP8 products 2 B more for
//               each parameter of a product: the weight as rows and as columns,
//               cast once an iteration
//   gradients   gradient_bytes for each parameter. In the optimizer, with
//               Transformer Engine: 2 B for each element of each distinct shape
//               of weights of the stage, from 2.3 on, and of weights of experts
//               from 2.10 on. A product adds its gradient to the sum itself and
//               returns this unused one to PyTorch, which wants a gradient of
//               every weight
//   optimizer   4 B for each parameter, a weight in FP32, and two moments of
//               moment_bytes
//   saved       see MockModule::saved_bytes
//   workspace   what the operators need; recomputed tensors; with ZeRO 2 and
//               3 the unit's gradients before they are reduced; with ZeRO 3 the
//               parameters of the unit and of the next unit. A unit is one run
//               of a stage: a block, or one end of the model. With several
//               model chunks and overlap_messages, a message from and one to
//               another stage. Without these, what a stage received is what
//               its first module saves, or a gradient in its workspace
//
// With ZeRO 3 and fp32_shards, there are no weights beside those of the
// optimizer, and a gradient takes 4 B.
//
// The ranks that hold the same parameters, or zero_group of them, share the
// optimizer with ZeRO 1, also the gradients with ZeRO 2, and also the weights
// with ZeRO 3. The workspace of the optimizer is optimizer_workspace, and FP32
// gradients where the accumulated ones have fewer bytes.
//
// Sources: Megatron-LM, megatron/core/pipeline_parallel/schedules.py
// (overlap_p2p_comm, deallocate_output_tensor); Rajbhandari et al., "ZeRO",
// arXiv 1910.02054, section 3.1 (2 + 2 + 12 B; Megatron-LM accumulates
// gradients in FP32: 4 B); NVIDIA, Transformer Engine, "FP8 weight caching"
// (is_first_microbatch) and "Handling transposes";
// transformer_engine/pytorch/module/base.py, get_dummy_wgrad, and
// grouped_linear.py; SimuMax 1.2, config.py, te_dummy_wgrad_min_version;
// Zhao et al., "PyTorch FSDP", arXiv 2304.11277, section 3.3 (prefetching);
// torch.distributed.fsdp.fully_shard, MixedPrecisionPolicy (shards keep the
// precision that the parameters were made in).

#ifndef WORKLOAD_GENERATOR_MODULE_MEMORY_H_
#define WORKLOAD_GENERATOR_MODULE_MEMORY_H_

#include <cstdint>

#include "workload/generator/blueprint.h"
#include "workload/generator/training_setup.h"

namespace astra {

// Sets the memory of all modules of `blueprint`, which was built from `setup`.
// A module in several blocks gets the largest of its workspaces.
void SetMemory(const TrainingSetup& setup, Blueprint& blueprint);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_MODULE_MEMORY_H_
