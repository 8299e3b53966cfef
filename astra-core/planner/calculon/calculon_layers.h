// The layers of one transformer block in Calculon, for one micro-batch on one
// rank of tensor parallelism.
//
// Attention: fork, layer norm, communication, query, key and value, their
// product, softmax, dropout, product with the value, output, communication,
// dropout, residual. MLP: fork, layer norm, communication, first matrix, GeLU,
// second matrix, communication, dropout, residual. With an overlap of tensor
// parallelism, each communication is a part of the product beside it.
//
// FLOPs of an element, forward and backward: layer norm 9 / 14 + 7, GeLU 8 /
// 13, softmax 5 / 8, dropout 1 / 1, sum 1 / 2; Adam 11 for each parameter. A
// layer accesses its inputs, outputs and weights. Attention scores are stored
// and accessed, as without FlashAttention.
//
// Source: calculon/llm/layers.py and the order of layers in llm.py of
// calculon-ai/calculon; M. Isaev et al., "Calculon: a Methodology and Tool for
// High-Level Codesign of Systems and Large Language Models", SC 2023.
//
// Properties of Calculon that its numbers need, although they seem unintended:
// with an overlap, the weight gradient of a product that gathers accesses only
// one tile of its input, and with all-reduces no activation of the product
// before it is stored.

#ifndef ASTRA_CORE_PLANNER_CALCULON_CALCULON_LAYERS_H_
#define ASTRA_CORE_PLANNER_CALCULON_CALCULON_LAYERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "astra-core/planner/calculon/calculon_inputs.h"

namespace astra {

// What is computed of a layer.
enum class CalculonPass : uint8_t {
  kForward,
  kActivationGrad,
  kWeightGrad,
  kOptimizer
};
constexpr size_t kNumCalculonPasses = 4;

struct CalculonLayer {
  struct Work {
    double flops = 0;
    double bytes = 0;  // Accessed in memory.
  };

  // How a layer communicates: not; alone; in tiles beside its product.
  enum class Communication : uint8_t { kNone, kAlone, kTiled };

  std::string_view name;                      // As in Calculon.
  std::array<Work, kNumCalculonPasses> work;  // By CalculonPass.
  bool on_matrix_engine = false;              // All passes but the optimizer.

  Communication communication = Communication::kNone;
  // Which direction combines the ranks' parts: the forward pass, after a
  // product; or the backward pass, before one.
  bool reduces_forward = false;
  double message = 0;  // Bytes of each communication, of all ranks.

  double weights = 0;  // Bytes, as the following.
  double activations = 0;
  double outputs = 0;
  double activation_grads = 0;
  double weight_grads = 0;        // In the datatype, of one shard.
  double whole_weight_grads = 0;  // In float32, of all shards.
  double optimizer_state = 0;     // Of one shard.

  bool is_recomputed = false;
  bool communicates_again = false;  // In the backward pass.
  bool reuses_activations = false;  // Those of another layer.
  bool stores_activations = true;   // Until the backward pass.
  bool stores_outputs = true;
};

// Returns the layers in the order of the forward pass. `inputs` passes
// CheckCalculonExecution().
std::vector<CalculonLayer> CalculonLayersOf(const CalculonInputs& inputs);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_CALCULON_CALCULON_LAYERS_H_
