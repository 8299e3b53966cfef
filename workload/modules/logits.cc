#include "workload/modules/logits.h"

#include "workload/modules/module_builder.h"
#include "workload/modules/norm.h"

namespace astra {

MockModule Logits(const ModelShape& model, int64_t vocabulary,
                  const ModuleContext& context) {
  ModuleBuilder builder("final_column", context);
  AddNorm(model, builder);
  const int64_t tokens =
      context.training ? context.tokens() : context.sequences;
  const int64_t outputs = vocabulary / context.tensor;
  if (context.training) builder.BeginRegion(model.hidden);
  builder.Linear({.op = "logits",
                  .tokens = tokens,
                  .inputs = model.hidden,
                  .outputs = outputs,
                  .saved_tokens = context.split_tokens(),
                  .is_exact = true});
  if (!model.tied_embeddings) builder.Parameters(outputs * model.hidden);
  if (!context.training) {
    builder.ForwardCollective(CollectiveKind::kAllGather,
                              ParallelDimension::kTensor,
                              2 * tokens * vocabulary);
    builder.Stream(
        {.op = "sample", .elements = tokens * vocabulary, .forward = 2});
  }
  return builder.Take();
}

MockModule CrossEntropy(int64_t vocabulary, const ModuleContext& context) {
  constexpr int64_t kFloatBytes = 4;
  ModuleBuilder builder("cross_entropy", context);
  const int64_t elements = context.tokens() * (vocabulary / context.tensor);
  // Bytes for each logit, by single kernels in FP32:
  //
  //   forward   38: convert; maximum; difference, in place; exponential, in
  //             place; sum; quotient, in place
  //   backward  12: scale the quotient and convert it back
  //
  // The FP32 values are kept.
  constexpr int64_t kLogitBytes = 2;
  // A metric reads the logits for the maximum, the sum of the exponentials and
  // their logarithms, and writes these.
  constexpr int64_t kMetricElements = 4;
  const bool is_fused = context.fused_loss;
  builder.Stream(
      {.op = "cross_entropy",
       .elements = elements,
       .forward = (is_fused ? 3 : 19) + kMetricElements * context.loss_metrics,
       .backward = is_fused ? 2 : 6,
       .saved_bytes = (is_fused ? kLogitBytes : kFloatBytes) * elements,
       .workspace_bytes = is_fused ? 0 : context.loss_workspace * elements});
  for (int i = 0; i < 3; ++i) {
    builder.ForwardCollective(CollectiveKind::kAllReduce,
                              ParallelDimension::kTensor,
                              kFloatBytes * context.tokens());
  }
  return builder.Take();
}

}  // namespace astra
