// How much memory a processor needs in Calculon.
//
// Weights in the datatype; gradients in the datatype, of one block in float32
// and of all shards; the optimizer's moments and copy of the weights in
// float32. With b blocks, m micro-batches of which min(m, p) are in flight, p
// processors of a pipeline and v chunks:
//
//   activations   working + stored x (b x min(m, p) x f - 1)
//   checkpoints   b x min(m, p) x f inputs of blocks   [full recomputation]
//   f             1, or 1 + (p - 1) / (v p) where v > 1
//
// What is offloaded needs two blocks in the first memory, and all of its space
// in the second.
//
// Source: Llm._compute_batch_stats and _get_mem_cap_reqs in llm.py of
// calculon-ai/calculon.

#ifndef ASTRA_CORE_PLANNER_CALCULON_CALCULON_MEMORY_H_
#define ASTRA_CORE_PLANNER_CALCULON_CALCULON_MEMORY_H_

#include "absl/status/status.h"
#include "astra-core/planner/calculon/calculon_block.h"
#include "astra-core/planner/calculon/calculon_inputs.h"

namespace astra {

// Bytes of a processor by what they hold.
struct CalculonSpaces {
  double weights = 0;
  double activations = 0;
  double checkpoints = 0;
  double activation_grads = 0;
  double weight_grads = 0;
  double optimizer_state = 0;
};

struct CalculonSpace {
  CalculonSpaces whole;      // Without offloading.
  CalculonSpaces offloaded;  // In the first memory, if all is offloaded.
  double tier1 = 0;          // Bytes needed in mem1.
  double tier2 = 0;          // Bytes needed in mem2.
};

CalculonSpace CalculonSpaceOf(const CalculonInputs& inputs,
                              const CalculonBlockCost& block);

// Checks that the memories of the system hold what is needed.
//
// Errors: InvalidArgument with the memory, its size, what is needed, and the
// parts of it in GiB.
absl::Status CheckCalculonSpace(const CalculonSystem& system,
                                const CalculonSpace& space);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_CALCULON_CALCULON_MEMORY_H_
