// The look-up of token embeddings, and of learned positions.

#ifndef WORKLOAD_MODULES_EMBEDDING_H_
#define WORKLOAD_MODULES_EMBEDDING_H_

#include "workload/models/model_spec.h"
#include "workload/modules/module.h"

namespace astra {

// The vocabulary that the ranks of a TP group hold together: rounded up to a
// multiple of 128 TP, as Megatron-LM does, or just what the model has where
// `divisor` is 0. Requires divisor >= 0.
int64_t PaddedVocabulary(int64_t vocabulary, int64_t tensor, int64_t divisor);

// "embedding_layer". Each rank of a TP group looks up the words it has; the sum
// ends the region. Learned positions are added to the sum of all tokens, which
// sequence parallelism splits only then, so that the sum is an all-reduce.
// `vocabulary` is the padded one.
//
// Source: Megatron-LM, LanguageModelEmbedding.
MockModule Embedding(const ModelSpec& model, int64_t vocabulary,
                     const ModuleContext& context);

}  // namespace astra

#endif  // WORKLOAD_MODULES_EMBEDDING_H_
