#include "workload/modules/embedding.h"

#include "workload/modules/module_builder.h"

namespace astra {

int64_t PaddedVocabulary(int64_t vocabulary, int64_t tensor, int64_t divisor) {
  if (divisor == 0) return vocabulary;
  const int64_t multiple = divisor * tensor;
  return (vocabulary + multiple - 1) / multiple * multiple;
}

MockModule Embedding(const ModelShape& model, int64_t vocabulary,
                     const ModuleContext& context) {
  ModuleBuilder builder("embedding_layer", context);
  const int64_t elements = context.tokens() * model.hidden;
  // The backward pass adds the gradient to rows of the table, in FP32.
  const int64_t table = vocabulary / context.tensor * model.hidden;
  // PyTorch makes a gradient of the whole table, in BF16, before it is added to
  // the sum: aten/src/ATen/native/cuda/Embedding.cu.
  builder.Stream({.op = "embedding",
                  .elements = elements,
                  .forward = 2,
                  .backward = 5,
                  .workspace_bytes = 2 * (elements + table)});
  builder.Parameters(table);
  const int64_t split = context.split_tokens() * model.hidden;
  if (model.positions == Positions::kLearned) {
    // Learned positions are added to the whole sum before sequence parallelism
    // splits it, so every rank sees their whole gradient.
    constexpr ParallelDimension kTensor = ParallelDimension::kTensor;
    builder.ForwardCollective(CollectiveKind::kAllReduce, kTensor,
                              2 * elements);
    builder.ReplicatedParameters(model.max_positions * model.hidden,
                                 /*is_summed=*/false);
    builder.Stream({.op = "residual_add",
                    .elements = elements,
                    .forward = 3,
                    .backward = 1});
    if (context.sequence_parallel) {
      builder.BackwardCollective(CollectiveKind::kAllGather, kTensor,
                                 2 * elements);
    }
  } else {
    builder.EndRegion(model.hidden);
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
