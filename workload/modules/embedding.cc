#include "workload/modules/embedding.h"

#include "workload/modules/module_builder.h"

namespace astra {

int64_t PaddedVocabulary(int64_t vocabulary, int64_t tensor, int64_t divisor) {
  if (divisor == 0) return vocabulary;
  const int64_t multiple = divisor * tensor;
  return (vocabulary + multiple - 1) / multiple * multiple;
}

MockModule Embedding(const ModelSpec& model, int64_t vocabulary,
                     const ModuleContext& context) {
  ModuleBuilder builder("embedding_layer", context);
  builder.Parameters(vocabulary / context.tensor * model.hidden);
  const int64_t elements = context.tokens() * model.hidden;
  // The gradient is added into rows of the table, in FP32.
  builder.Stream(
      {.op = "embedding", .elements = elements, .forward = 2, .backward = 5});
  builder.EndRegion(model.hidden);
  const int64_t split = context.split_tokens() * model.hidden;
  if (model.positions == Positions::kLearned) {
    builder.ReplicatedParameters(model.max_positions * model.hidden);
    builder.Stream(
        {.op = "residual_add", .elements = split, .forward = 3, .backward = 1});
  }
  if (model.dropout) {
    builder.Stream({.op = "dropout_add",
                    .elements = split,
                    .forward = 2,
                    .backward = 2,
                    .saved_bytes = split});
  }
  return builder.Take();
}

}  // namespace astra
