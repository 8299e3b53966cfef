// Builds attention in which every head sees all earlier positions (MHA, GQA,
// MQA).

#ifndef WORKLOAD_MODULES_FULL_ATTENTION_H_
#define WORKLOAD_MODULES_FULL_ATTENTION_H_

#include <vector>

#include "workload/models/model_spec.h"
#include "workload/modules/module.h"

namespace astra {

// Returns "attention_column" (the norm, the projection to queries, keys and
// values, and their rotation) and "attention_row" (the scores, the output
// projection and the residual). A TP rank has heads / TP query heads and at
// least one key head.
//
// Requires full_attention; TP must divide the heads; with all-to-all context
// parallelism, CP must divide heads / TP.
std::vector<MockModule> FullAttentionModules(const ModelSpec& model,
                                             bool has_window,
                                             const ModuleContext& context);

}  // namespace astra

#endif  // WORKLOAD_MODULES_FULL_ATTENTION_H_
