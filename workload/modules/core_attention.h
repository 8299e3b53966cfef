// The scores and the weighted sum of attention, however its queries, keys and
// values were made, and what context parallelism exchanges for it.

#ifndef WORKLOAD_MODULES_CORE_ATTENTION_H_
#define WORKLOAD_MODULES_CORE_ATTENTION_H_

#include <cstdint>

#include "workload/modules/module_builder.h"

namespace astra {

// Of one rank.
struct CoreAttention {
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t qk_dim = 0;
  int64_t v_dim = 0;
  int64_t window = 0;
  bool has_bias = false;
  bool has_dropout = false;  // Of the probabilities, without flash attention.
  bool values_in_keys = false;  // As in the latent cache.
};

// Adds both passes, the collectives over CP, and what is kept: queries, keys,
// values and the sum of exponentials of each row with flash attention, and the
// scores as well without.
//
// Context parallelism gives each rank as many early as late positions, so that
// each has 1 / CP of the causal triangle. In a ring of CP steps, keys and
// values (and their gradients) travel behind the attention of what has arrived;
// the last step runs behind the last arrival.
//
// Sources: Liu et al., "Ring Attention", arXiv 2310.01889; Jacobs et al.,
// "DeepSpeed Ulysses", arXiv 2309.14509; Llama 3, arXiv 2407.21783, 3.3.2.
void AddCoreAttention(const CoreAttention& attention, ModuleBuilder& builder);

}  // namespace astra

#endif  // WORKLOAD_MODULES_CORE_ATTENTION_H_
