#include "workload/attention/projections.h"

#include <utility>

#include "workload/modules/norm.h"

namespace astra {

void AddColumn(std::string_view op, int64_t outputs, const ModelShape& model,
               ModuleBuilder& builder, std::vector<int64_t> parts) {
  const ModuleContext& context = builder.context();
  builder.BeginRegion(model.hidden);
  builder.Linear({.op = op,
                  .tokens = context.tokens(),
                  .inputs = model.hidden,
                  .outputs = outputs,
                  .saved_tokens = context.split_tokens(),
                  .parts = std::move(parts)});
  builder.Parameters(model.hidden * outputs);
}

ModuleBuilder BeginColumn(std::string_view name, std::string_view op,
                          int64_t outputs, const ModelShape& model,
                          const ModuleContext& context,
                          std::vector<int64_t> parts) {
  ModuleBuilder builder(name, context);
  AddNorm(model, builder, RecomputeModule::kAttentionNorm);
  builder.Begin(RecomputeModule::kQkvProjection);
  AddColumn(op, outputs, model, builder, std::move(parts));
  builder.End(RecomputeModule::kQkvProjection);
  return builder;
}

void AddOutputProjection(int64_t width, const ModelShape& model,
                         ModuleBuilder& builder) {
  const ModuleContext& context = builder.context();
  const bool is_cast = IsCast(context.precision);
  builder.Linear({.op = "output_linear",
                  .tokens = context.tokens(),
                  .inputs = width,
                  .outputs = model.hidden,
                  .saved_bits = is_cast ? context.shared_output_bits : 0,
                  .casts_inputs = true});
  builder.Parameters(width * model.hidden);
  builder.EndRegion(model.hidden);
  AddResidual(model, builder);
}

void AddKvCache(int64_t elements, int64_t positions, ModuleBuilder& builder) {
  const ModuleContext& context = builder.context();
  if (context.training) return;
  builder.Stream({.op = "kv_cache_write",
                  .elements = context.tokens() * elements,
                  .forward = 2});
  builder.KvCache(kElementBytes * elements * context.sequences * positions);
}

}  // namespace astra
