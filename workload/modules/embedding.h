// Builds the look-up of token embeddings and of learned positions.

#ifndef WORKLOAD_MODULES_EMBEDDING_H_
#define WORKLOAD_MODULES_EMBEDDING_H_

#include "workload/modules/model_shape.h"
#include "workload/modules/module.h"

namespace astra {

// Returns the padded vocabulary, which the ranks of a TP group hold together:
// the model's, rounded up to a multiple of `divisor` x TP (128 in Megatron-LM),
// or unchanged where `divisor` is 0. Requires divisor >= 0.
int64_t PaddedVocabulary(int64_t vocabulary, int64_t tensor, int64_t divisor);

// Builds "embedding_layer". Each rank of a TP group looks up the words it
// holds, and a sum over TP ends the region. Learned positions are added to the
// sum of all tokens before sequence parallelism splits them, so the sum is an
// all-reduce. `vocabulary` is the padded vocabulary.
//
// Source: Megatron-LM, LanguageModelEmbedding.
MockModule Embedding(const ModelShape& model, int64_t vocabulary,
                     const ModuleContext& context);

}  // namespace astra

#endif  // WORKLOAD_MODULES_EMBEDDING_H_
