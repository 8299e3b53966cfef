#include "workload/attention/latent_attention.h"

#include <string_view>

#include "workload/attention/core_attention.h"
#include "workload/attention/projections.h"
#include "workload/modules/module_builder.h"
#include "workload/modules/norm.h"
#include "workload/modules/size_rules.h"

namespace astra {
namespace {

bool IsAbsorbed(const ModuleContext& context) {
  return !context.training && (context.decoding || context.positions == 1);
}

// Builds a latent vector from the hidden states of the split tokens.
MockModule Down(std::string_view name, std::string_view op, int64_t rank,
                bool has_norm, const ModelShape& model,
                const ModuleContext& context) {
  ModuleBuilder builder(name, context);
  if (has_norm) AddNorm(model, builder, RecomputeModule::kAttentionNorm);
  builder.TakesFrom(RecomputeModule::kLayerNorm);
  builder.Begin(RecomputeModule::kLatentDown);
  builder.Linear({.op = op,
                  .tokens = context.split_tokens(),
                  .inputs = model.hidden,
                  .outputs = rank,
                  // Both latent vectors are made from one normed input.
                  .shares_input = !has_norm});
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
  builder.Begin(RecomputeModule::kLatentUpProjection);
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

MockModule Row(const LatentAttention& latent, int64_t heads,
               const ModelShape& model, const ModuleContext& context) {
  const int64_t rope = latent.rope_head_dim;
  ModuleBuilder builder("attention_o_row", context);
  builder.Continue(RecomputeModule::kLatentUpProjection);
  builder.Stream({.op = "rope",
                  .elements = context.tokens() * (heads + 1) * rope,
                  .forward = 2,
                  .backward = 2});
  builder.End(RecomputeModule::kLatentUpProjection);
  AddKvCache(latent.kv_lora_rank + rope, context.past + context.positions,
             builder);
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
  AddOutputProjection(heads * latent.v_head_dim, model, builder);
  return builder.Take();
}

}  // namespace

void LatentAttention::Visit(FieldVisitor& visitor) {
  visitor.Size("heads", heads, {kMaxHeads});
  visitor.SizeOrZero("q_lora_rank", q_lora_rank, kMaxRank);
  visitor.Size("kv_lora_rank", kv_lora_rank, {kMaxRank});
  visitor.Size("nope_head_dim", nope_head_dim, {kMaxHeadDim});
  visitor.Size("rope_head_dim", rope_head_dim, {kMaxHeadDim});
  visitor.Size("v_head_dim", v_head_dim, {kMaxHeadDim});
}

bool LatentAttention::IsIn(ConfigJson& /*config*/,
                           std::string_view model_type) {
  return model_type == "deepseek_v2" || model_type == "deepseek_v3";
}

void LatentAttention::Read(ConfigJson& config, std::string_view /*model_type*/,
                           const ModelShape& /*model*/) {
  heads = config.Integer("num_attention_heads");
  q_lora_rank = config.IntegerOr("q_lora_rank", 0);
  kv_lora_rank = config.Integer("kv_lora_rank");
  nope_head_dim = config.Integer("qk_nope_head_dim");
  rope_head_dim = config.Integer("qk_rope_head_dim");
  v_head_dim = config.Integer("v_head_dim");
  config.ExpectAbsentOr("attention_bias", "false");
  for (const std::string_view key :
       {"num_key_value_heads", "head_dim", "qk_head_dim"}) {
    config.Has(key);  // Follows from the other keys.
  }
}

std::vector<MockModule> LatentAttention::Modules(
    const ModelShape& model, int64_t /*layer*/,
    const ModuleContext& context) const {
  const int64_t rank_heads = heads / context.tensor;
  const int64_t query_outputs = rank_heads * (nope_head_dim + rope_head_dim);
  std::vector<MockModule> modules;
  if (q_lora_rank > 0) {
    modules.push_back(Down("attention_linear_q_lora", "q_down", q_lora_rank,
                           /*has_norm=*/true, model, context));
    modules.push_back(Up("attention_q_column", "q_up", q_lora_rank,
                         /*extra=*/0, query_outputs, context.tokens(),
                         context));
  } else {
    ModuleBuilder column("attention_q_column", context);
    AddNorm(model, column, RecomputeModule::kAttentionNorm);
    column.Begin(RecomputeModule::kLatentUpProjection);
    AddColumn("q_up", query_outputs, model, column);
    modules.push_back(column.Take());
  }
  modules.push_back(Down("attention_linear_kv_lora", "kv_down",
                         kv_lora_rank + rope_head_dim,
                         /*has_norm=*/false, model, context));
  if (IsAbsorbed(context)) {
    modules.push_back(AbsorbedKeys(*this, rank_heads, context));
  } else {
    modules.push_back(
        Up("attention_kv_column", "kv_up", kv_lora_rank, rope_head_dim,
           rank_heads * (nope_head_dim + v_head_dim),
           context.tokens() + context.sequences * context.past, context));
  }
  modules.push_back(Row(*this, rank_heads, model, context));
  return modules;
}

absl::Status LatentAttention::CheckTensor(int64_t tensor) const {
  return MustDivide("TP", tensor, heads, "attention heads");
}

absl::Status LatentAttention::CheckContext(const ModuleContext& context) const {
  return CheckContextHeads(heads, context);
}

}  // namespace astra
