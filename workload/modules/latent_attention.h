// Builds multi-head latent attention (MLA), which projects queries, and keys
// with values, from narrow latent vectors.

#ifndef WORKLOAD_MODULES_LATENT_ATTENTION_H_
#define WORKLOAD_MODULES_LATENT_ATTENTION_H_

#include <vector>

#include "workload/models/model_spec.h"
#include "workload/modules/module.h"

namespace astra {

// Returns "attention_linear_q_lora" (where queries have a latent vector),
// "attention_q_column", "attention_linear_kv_lora", "attention_kv_column" and
// "attention_o_row". Every TP rank makes the latent vectors of its split
// tokens. What is made from the latent vectors is split by heads.
//
// A decode step works on the cached latent vectors directly: the projections to
// keys and values are absorbed into queries and outputs, so that each token of
// the cache is read once for all heads.
//
// Source: DeepSeek-V2, arXiv 2405.04434, sections 2.1 and appendix C.
std::vector<MockModule> LatentAttentionModules(const ModelSpec& model,
                                               const ModuleContext& context);

}  // namespace astra

#endif  // WORKLOAD_MODULES_LATENT_ATTENTION_H_
