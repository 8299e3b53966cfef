#include "workload/modules/token_prediction.h"

#include "workload/modules/module_builder.h"
#include "workload/modules/norm.h"

namespace astra {

MockModule TokenPrediction(const ModelShape& model,
                           const ModuleContext& context) {
  constexpr ParallelDimension kTensor = ParallelDimension::kTensor;
  ModuleBuilder builder("mtp_projection", context);
  AddNorm(model, builder);
  AddNorm(model, builder);
  const int64_t joined = 2 * model.hidden;
  builder.Stream({.op = "concat",
                  .elements = context.split_tokens() * joined,
                  .forward = 2,
                  .backward = 2});
  builder.BeginRegion(joined);
  const int64_t outputs = model.hidden / context.tensor;
  builder.Linear({.op = "mtp_linear",
                  .tokens = context.tokens(),
                  .inputs = joined,
                  .outputs = outputs,
                  .saved_tokens = context.split_tokens()});
  builder.Parameters(joined * outputs);
  const int64_t gathered = 2 * context.tokens() * model.hidden;
  builder.ForwardCollective(CollectiveKind::kAllGather, kTensor, gathered);
  if (context.sequence_parallel) {
    builder.BackwardCollective(CollectiveKind::kAllGather, kTensor, gathered);
  }
  return builder.Take();
}

}  // namespace astra
