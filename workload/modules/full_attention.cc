#include "workload/modules/full_attention.h"

#include <algorithm>

#include "workload/modules/core_attention.h"
#include "workload/modules/module_builder.h"
#include "workload/modules/norm.h"

namespace astra {
namespace {

// Numbers of heads on one rank.
struct Heads {
  int64_t queries;
  int64_t keys;
};

Heads HeadsOf(const FullAttention& attention, const ModuleContext& context) {
  return {attention.heads / context.tensor,
          std::max<int64_t>(1, attention.kv_heads / context.tensor)};
}

MockModule Column(const ModelSpec& model, bool has_window,
                  const ModuleContext& context) {
  const FullAttention& attention = *model.full_attention;
  const auto [queries, keys] = HeadsOf(attention, context);
  const int64_t dim = attention.head_dim;
  const int64_t query_width = queries * dim * (attention.output_gate ? 2 : 1);
  const int64_t outputs = query_width + 2 * keys * dim;
  const int64_t rotated = context.tokens() * (queries + keys) * dim;

  ModuleBuilder builder("attention_column", context);
  AddNorm(model, builder);
  builder.BeginRegion(model.hidden);
  builder.Linear({.op = "qkv_linear",
                  .tokens = context.tokens(),
                  .inputs = model.hidden,
                  .outputs = outputs,
                  .saved_tokens = context.split_tokens()});
  builder.Parameters(model.hidden * outputs);
  if (attention.qkv_bias) builder.Parameters(outputs);
  if (attention.qk_norm) {
    builder.ReplicatedParameters(2 * dim);
    builder.Stream({.op = "rms_norm",
                    .elements = rotated,
                    .forward = 2,
                    .backward = 3,
                    .saved_bytes = 2 * rotated});
  }
  if (model.positions == Positions::kRotary) {
    builder.Stream(
        {.op = "rope", .elements = rotated, .forward = 2, .backward = 2});
  }
  if (!context.training) {
    const int64_t cached = 2 * keys * dim;
    builder.Stream({.op = "kv_cache_write",
                    .elements = context.tokens() * cached,
                    .forward = 2});
    const int64_t all = context.past + context.positions;
    builder.KvCache(2 * cached * context.sequences *
                    (has_window ? std::min(all, attention.window) : all));
  }
  return builder.Take();
}

MockModule Row(const ModelSpec& model, bool has_window,
               const ModuleContext& context) {
  const FullAttention& attention = *model.full_attention;
  const auto [queries, keys] = HeadsOf(attention, context);
  const int64_t width = queries * attention.head_dim;

  ModuleBuilder builder("attention_row", context);
  AddCoreAttention({.heads = queries,
                    .kv_heads = keys,
                    .qk_dim = attention.head_dim,
                    .v_dim = attention.head_dim,
                    .window = has_window ? attention.window : 0,
                    .has_bias = model.positions == Positions::kAlibi,
                    .has_dropout = model.dropout},
                   builder);
  if (attention.sinks) builder.Parameters(queries);
  if (attention.output_gate) {
    builder.Stream({.op = "gate",
                    .elements = context.tokens() * width,
                    .forward = 3,
                    .backward = 5,
                    .saved_bytes = 4 * context.tokens() * width});
  }
  builder.Linear({.op = "output_linear",
                  .tokens = context.tokens(),
                  .inputs = width,
                  .outputs = model.hidden,
                  .casts_inputs = true});
  builder.Parameters(width * model.hidden);
  builder.EndRegion(model.hidden);
  if (attention.output_bias) builder.ReplicatedParameters(model.hidden);
  AddResidual(model, builder);
  return builder.Take();
}

}  // namespace

std::vector<MockModule> FullAttentionModules(const ModelSpec& model,
                                             bool has_window,
                                             const ModuleContext& context) {
  return {Column(model, has_window, context), Row(model, has_window, context)};
}

}  // namespace astra
