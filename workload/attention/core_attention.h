// Adds the scores and the weighted sum of attention to a module, for queries,
// keys and values of any origin, and the exchanges of context parallelism.

#ifndef WORKLOAD_ATTENTION_CORE_ATTENTION_H_
#define WORKLOAD_ATTENTION_CORE_ATTENTION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "workload/modules/module_builder.h"

namespace astra {

// Sizes of the attention of one rank.
struct CoreAttention {
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t qk_dim = 0;
  int64_t v_dim = 0;
  int64_t window = 0;
  bool has_bias = false;
  // Dropout of the probabilities; not with flash attention.
  bool has_dropout = false;
  // What follows keeps the output as it is, as a gate does.
  bool output_is_kept = false;
  // Values are a part of the keys, as in the latent cache.
  bool values_in_keys = false;
};

// Adds both passes, the collectives over CP, and the bytes kept: queries, keys
// and values, with flash attention also the sum of exponentials of each row,
// and without it also the scores. The output is what the next product keeps; if
// that is in FP8, flash attention keeps its output beside the product's copy.
//
// Context parallelism gives each rank as many early as late positions, so that
// each computes 1 / CP of the causal triangle. In a ring of CP steps, keys and
// values (and their gradients) travel while the rank attends to those that have
// arrived. The last step runs after the last arrival.
//
// Sources: Transformer Engine, dot_product_attention/backends.py
// (FusedAttention saves its output) and module/linear.py (saves the cast
// input); Liu et al., "Ring Attention", arXiv 2310.01889; Jacobs et al.,
// "DeepSpeed Ulysses", arXiv 2309.14509; Llama 3, arXiv 2407.21783, 3.3.2.
void AddCoreAttention(const CoreAttention& attention, ModuleBuilder& builder);

// Errors: InvalidArgument if the context parallelism of `context` cannot split
// `heads` heads of all TP ranks together.
absl::Status CheckContextHeads(int64_t heads, const ModuleContext& context);

}  // namespace astra

#endif  // WORKLOAD_ATTENTION_CORE_ATTENTION_H_
