// Builds a gated delta net: attention whose state has a fixed size.

#ifndef WORKLOAD_MODULES_LINEAR_ATTENTION_H_
#define WORKLOAD_MODULES_LINEAR_ATTENTION_H_

#include <vector>

#include "workload/models/model_spec.h"
#include "workload/modules/module.h"

namespace astra {

// Returns "attention_gdn_column" (the norm, the projections to queries, keys,
// values, gates and decays, and a short convolution) and "attention_gdn_row"
// (the delta rule, a gated norm, the output projection and the residual). TP
// splits the heads.
//
// Source: Yang et al., "Gated Delta Networks", arXiv 2412.06464, section 3; the
// widths as in Qwen3-Next of Hugging Face transformers.
std::vector<MockModule> LinearAttentionModules(const ModelSpec& model,
                                               const ModuleContext& context);

}  // namespace astra

#endif  // WORKLOAD_MODULES_LINEAR_ATTENTION_H_
