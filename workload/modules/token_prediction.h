// Builds what joins the layers of multi-token prediction (MTP) to a model.
//
// After its last block, a model with MTP predicts further tokens: for each one,
// the hidden states of the position and the embedding of the next token are
// normed, joined and projected back to the hidden size; a block of the model
// follows, and the head of the model with a loss of its own. The embedding and
// the head are those of the model.
//
// Sources: DeepSeek-AI, "DeepSeek-V3 Technical Report", arXiv 2412.19437,
// section 2.2; Megatron-LM,
// megatron/core/transformer/multi_token_prediction.py.

#ifndef WORKLOAD_MODULES_TOKEN_PREDICTION_H_
#define WORKLOAD_MODULES_TOKEN_PREDICTION_H_

#include "workload/modules/model_shape.h"
#include "workload/modules/module.h"

namespace astra {

// Returns "mtp_projection": two norms, the joined hidden states of twice the
// width, and their product with 2 h x h weights, whose columns TP splits. All
// ranks of a TP group need the whole result, which is gathered.
MockModule TokenPrediction(const ModelShape& model,
                           const ModuleContext& context);

}  // namespace astra

#endif  // WORKLOAD_MODULES_TOKEN_PREDICTION_H_
