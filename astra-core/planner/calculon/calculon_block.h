// What one block of Calculon takes for one micro-batch: computation,
// communication of tensor parallelism, and memory.
//
// Communication of a layer that communicates alone is exposed whole, with the
// sums of a reduction. In tiles (n tiles for n ranks), with F the FLOPs of a
// tile slowed down by the processors that communicate (F / (1 - usage)), N the
// communication of a tile:
//
//   N > F   time = tile + (n-1) slowed tiles; exposed (n-1) (N - F)
//   else    time = n tiles + (n-1) N x usage; exposed 0
//   pipe    time and exposed + N
//
// Source: layers.py and llm.py of calculon-ai/calculon.
//
// Properties of Calculon that its numbers need, although they seem unintended:
//
//   - Recomputation adds, for each recomputed layer, the FLOPs and accesses of
//     the block up to there, not of the layer alone. Its time is right; FLOPs,
//     bytes and their times are too large, which `data_par_overlap` uses.
//   - "pipe" adds N to the time of the layer and to the exposed time, so the
//     iteration counts it twice.
//   - Communication that is repeated in the backward pass beside a product is
//     exposed as long as in the forward pass.
//   - Exposed communication of tiles is that of base blocks also in edge
//     blocks.

#ifndef ASTRA_CORE_PLANNER_CALCULON_CALCULON_BLOCK_H_
#define ASTRA_CORE_PLANNER_CALCULON_CALCULON_BLOCK_H_

#include "astra-core/planner/calculon/calculon_inputs.h"
#include "astra-core/planner/calculon/calculon_schedule.h"

namespace astra {

// A pass over all layers of a block.
struct CalculonPassCost {
  double flops = 0;
  double flops_seconds = 0;
  double bytes = 0;  // Accessed in memory.
  double memory_seconds = 0;
  double seconds = 0;
};

// Communication of tensor parallelism in a pass.
struct CalculonTensorCost {
  CalculonPair bytes;
  CalculonPair seconds;
  CalculonPair exposed;  // Seconds in which nothing is computed.
};

struct CalculonBlockCost {
  CalculonPassCost forward;
  CalculonPassCost again;  // Recomputation.
  CalculonPassCost activation_grad;
  CalculonPassCost weight_grad;
  CalculonPassCost optimizer;

  CalculonTensorCost tensor_forward;
  CalculonTensorCost tensor_again;
  CalculonTensorCost tensor_backward;
  double tensor_rate = 0;  // Bytes/s that would hide all tiles.

  // Bytes of the message to the next processor, and of its gradient.
  double message_forward = 0;
  double message_backward = 0;

  double useful_flops = 0;  // Without recomputation.

  // Bytes.
  double weights = 0;
  double working_activations = 0;
  double stored_activations = 0;  // Until the backward pass.
  double checkpoint = 0;          // Input of the block, if it is recomputed.
  double weight_grads = 0;        // Of one shard.
  double whole_weight_grads = 0;  // In float32.
  double activation_grads = 0;
  double optimizer_state = 0;
};

CalculonBlockCost CalculonBlockCostOf(const CalculonInputs& inputs);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_CALCULON_CALCULON_BLOCK_H_
