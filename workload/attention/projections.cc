#include "workload/attention/projections.h"

#include "workload/modules/norm.h"

namespace astra {

ModuleBuilder BeginColumn(std::string_view name, std::string_view op,
                          int64_t outputs, const ModelShape& model,
                          const ModuleContext& context) {
  ModuleBuilder builder(name, context);
  AddNorm(model, builder);
  builder.BeginRegion(model.hidden);
  builder.Linear({.op = op,
                  .tokens = context.tokens(),
                  .inputs = model.hidden,
                  .outputs = outputs,
                  .saved_tokens = context.split_tokens()});
  builder.Parameters(model.hidden * outputs);
  return builder;
}

void AddOutputProjection(int64_t width, const ModelShape& model,
                         ModuleBuilder& builder) {
  builder.Linear({.op = "output_linear",
                  .tokens = builder.context().tokens(),
                  .inputs = width,
                  .outputs = model.hidden,
                  .casts_inputs = true});
  builder.Parameters(width * model.hidden);
  builder.EndRegion(model.hidden);
  AddResidual(model, builder);
}

void AddKvCache(int64_t elements, int64_t positions, ModuleBuilder& builder) {
  constexpr int64_t kElementBytes = 2;
  const ModuleContext& context = builder.context();
  if (context.training) return;
  builder.Stream({.op = "kv_cache_write",
                  .elements = context.tokens() * elements,
                  .forward = 2});
  builder.KvCache(kElementBytes * elements * context.sequences * positions);
}

}  // namespace astra
