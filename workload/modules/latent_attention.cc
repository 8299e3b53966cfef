#include "workload/modules/latent_attention.h"

#include <string_view>

#include "workload/modules/core_attention.h"
#include "workload/modules/module_builder.h"
#include "workload/modules/norm.h"

namespace astra {
namespace {

bool IsAbsorbed(const ModuleContext& context) {
  return !context.training && context.positions == 1;
}

// Builds a latent vector from the hidden states of the split tokens.
MockModule Down(std::string_view name, std::string_view op, int64_t rank,
                bool has_norm, const ModelSpec& model,
                const ModuleContext& context) {
  ModuleBuilder builder(name, context);
  if (has_norm) AddNorm(model, builder);
  builder.Linear({.op = op,
                  .tokens = context.split_tokens(),
                  .inputs = model.hidden,
                  .outputs = rank,
                  // Both latent vectors share one normed input, which is kept
                  // once.
                  .saved_tokens = has_norm ? -1 : 0});
  builder.ReplicatedParameters(model.hidden * rank);
  return builder.Take();
}

// Builds what heads need from a latent vector of `rank` elements and its norm.
// `extra` further elements are gathered without projection. A later part of a
// prompt also projects the cached part of `tokens` again.
MockModule Up(std::string_view name, std::string_view op, int64_t rank,
              int64_t extra, int64_t outputs, int64_t tokens,
              const ModuleContext& context) {
  ModuleBuilder builder(name, context);
  const int64_t split = context.split_tokens();
  builder.Stream({.op = "rms_norm",
                  .elements = split * rank,
                  .forward = 2,
                  .backward = 3,
                  .saved_bytes = 2 * split * rank});
  builder.ReplicatedParameters(rank);
  builder.BeginRegion(rank + extra);
  builder.Linear({.op = op,
                  .tokens = tokens,
                  .inputs = rank,
                  .outputs = outputs,
                  .saved_tokens = split});
  builder.Parameters(rank * outputs);
  return builder.Take();
}

// Builds queries without a latent vector.
MockModule Queries(const ModelSpec& model, int64_t outputs,
                   const ModuleContext& context) {
  ModuleBuilder builder("attention_q_column", context);
  AddNorm(model, builder);
  builder.BeginRegion(model.hidden);
  builder.Linear({.op = "q_up",
                  .tokens = context.tokens(),
                  .inputs = model.hidden,
                  .outputs = outputs,
                  .saved_tokens = context.split_tokens()});
  builder.Parameters(model.hidden * outputs);
  return builder.Take();
}

// Builds the keys of a decode step, which does not make past keys and values
// again.
MockModule AbsorbedKeys(const LatentAttention& latent, int64_t heads,
                        const ModuleContext& context) {
  ModuleBuilder builder("attention_kv_column", context);
  builder.Stream({.op = "rms_norm",
                  .elements = context.tokens() * latent.kv_lora_rank,
                  .forward = 2});
  builder.ReplicatedParameters(latent.kv_lora_rank);
  builder.Parameters(latent.kv_lora_rank * heads *
                     (latent.nope_head_dim + latent.v_head_dim));
  builder.Linear({.op = "kv_up",
                  .groups = heads,
                  .tokens = context.tokens(),
                  .inputs = latent.nope_head_dim,
                  .outputs = latent.kv_lora_rank});
  return builder.Take();
}

MockModule Row(const ModelSpec& model, int64_t heads,
               const ModuleContext& context) {
  const LatentAttention& latent = *model.latent_attention;
  const int64_t rope = latent.rope_head_dim;
  const int64_t width = heads * latent.v_head_dim;
  ModuleBuilder builder("attention_o_row", context);
  builder.Stream({.op = "rope",
                  .elements = context.tokens() * (heads + 1) * rope,
                  .forward = 2,
                  .backward = 2});
  if (!context.training) {
    const int64_t cached = latent.kv_lora_rank + rope;
    builder.Stream({.op = "kv_cache_write",
                    .elements = context.tokens() * cached,
                    .forward = 2});
    builder.KvCache(2 * cached * context.sequences *
                    (context.past + context.positions));
  }
  if (IsAbsorbed(context)) {
    AddCoreAttention({.heads = heads,
                      .kv_heads = 1,
                      .qk_dim = latent.kv_lora_rank + rope,
                      .v_dim = latent.kv_lora_rank,
                      .values_in_keys = true},
                     builder);
    builder.Linear({.op = "kv_up",
                    .groups = heads,
                    .tokens = context.tokens(),
                    .inputs = latent.kv_lora_rank,
                    .outputs = latent.v_head_dim});
  } else {
    AddCoreAttention({.heads = heads,
                      .kv_heads = heads,
                      .qk_dim = latent.nope_head_dim + rope,
                      .v_dim = latent.v_head_dim},
                     builder);
  }
  builder.Linear({.op = "output_linear",
                  .tokens = context.tokens(),
                  .inputs = width,
                  .outputs = model.hidden,
                  .casts_inputs = true});
  builder.Parameters(width * model.hidden);
  builder.EndRegion(model.hidden);
  AddResidual(model, builder);
  return builder.Take();
}

}  // namespace

std::vector<MockModule> LatentAttentionModules(const ModelSpec& model,
                                               const ModuleContext& context) {
  const LatentAttention& latent = *model.latent_attention;
  const int64_t heads = latent.heads / context.tensor;
  const int64_t query_outputs =
      heads * (latent.nope_head_dim + latent.rope_head_dim);
  std::vector<MockModule> modules;
  if (latent.q_lora_rank > 0) {
    modules.push_back(Down("attention_linear_q_lora", "q_down",
                           latent.q_lora_rank, /*has_norm=*/true, model,
                           context));
    modules.push_back(Up("attention_q_column", "q_up", latent.q_lora_rank,
                         /*extra=*/0, query_outputs, context.tokens(),
                         context));
  } else {
    modules.push_back(Queries(model, query_outputs, context));
  }
  modules.push_back(Down("attention_linear_kv_lora", "kv_down",
                         latent.kv_lora_rank + latent.rope_head_dim,
                         /*has_norm=*/false, model, context));
  if (IsAbsorbed(context)) {
    modules.push_back(AbsorbedKeys(latent, heads, context));
  } else {
    modules.push_back(Up("attention_kv_column", "kv_up", latent.kv_lora_rank,
                         latent.rope_head_dim,
                         heads * (latent.nope_head_dim + latent.v_head_dim),
                         context.tokens() + context.sequences * context.past,
                         context));
  }
  modules.push_back(Row(model, heads, context));
  return modules;
}

}  // namespace astra
