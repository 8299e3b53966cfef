// Multi-head latent attention (MLA): queries, and keys with values, are
// projected from narrow latent vectors.

#ifndef WORKLOAD_MODULES_LATENT_ATTENTION_H_
#define WORKLOAD_MODULES_LATENT_ATTENTION_H_

#include <vector>

#include "workload/models/model_spec.h"
#include "workload/modules/module.h"

namespace astra {

// "attention_linear_q_lora" (where queries have a latent vector),
// "attention_q_column", "attention_linear_kv_lora", "attention_kv_column" and
// "attention_o_row". The latent vectors are made by every TP rank for its split
// tokens; what is made from them is split by heads.
//
// A decode step works on the cached latent vectors themselves: the projections
// to keys and values are absorbed into queries and outputs, so that a token of
// the cache is read once for all heads.
//
// Source: DeepSeek-V2, arXiv 2405.04434, sections 2.1 and appendix C.
std::vector<MockModule> LatentAttentionModules(const ModelSpec& model,
                                               const ModuleContext& context);

}  // namespace astra

#endif  // WORKLOAD_MODULES_LATENT_ATTENTION_H_
