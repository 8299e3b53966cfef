// What each module of a training iteration keeps in the memory of a rank.
//
//   weights     2 B (BF16) for each parameter; with FP8 products 2 B more for
//               those of the products: the weight as rows and as columns, cast
//               once an iteration
//   gradients   gradient_bytes for each parameter; the optimizer's: with
//               weight_gradient_buffers 2 B for each element of each distinct
//               shape of weights of the stage
//   optimizer   12 B for each parameter: a weight and two moments in FP32
//   saved       see MockModule::saved_bytes
//   workspace   what the operators need; what was recomputed (with full
//               recomputation of its whole block, as far as it is still
//               needed); with ZeRO 2 and 3 the unit's gradients before they
//               are reduced, with ZeRO 3 its parameters and those of the next
//               unit. A unit is one run of a stage: a block, or an end.
//
// ZeRO 1 shares the optimizer, 2 also the gradients and 3 also the weights
// among the ranks that hold the same parameters, or zero_group of them. The
// optimizer needs its optimizer_workspace, and gradients in FP32 where those
// accumulated have fewer bytes.
//
// Sources: Rajbhandari et al., "ZeRO", arXiv 1910.02054, section 3.1 (2 + 2 +
// 12 B; Megatron-LM accumulates gradients in FP32: 4 B); NVIDIA, Transformer
// Engine, "FP8 weight caching" (is_first_microbatch) and "Handling transposes";
// transformer_engine/pytorch/module/base.py, get_dummy_wgrad; SimuMax 1.2;
// Zhao et al., "PyTorch FSDP", arXiv 2304.11277, section 3.3 (prefetching).

#ifndef WORKLOAD_GENERATOR_MODULE_MEMORY_H_
#define WORKLOAD_GENERATOR_MODULE_MEMORY_H_

#include <cstdint>

#include "workload/generator/blueprint.h"
#include "workload/generator/training_setup.h"

namespace astra {

// Sets the memory of all modules of `blueprint`, which is of `setup`. Of a
// module in several blocks, the workspace is the largest.
void SetMemory(const TrainingSetup& setup, Blueprint& blueprint);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_MODULE_MEMORY_H_
