#include "workload/modules/linear_attention.h"

#include "workload/modules/module_builder.h"
#include "workload/modules/norm.h"

namespace astra {
namespace {

// Widths on one rank.
struct Widths {
  int64_t keys;
  int64_t values;
  int64_t value_heads;
};

Widths WidthsOf(const LinearAttention& linear, const ModuleContext& context) {
  return {linear.key_heads * linear.key_head_dim / context.tensor,
          linear.value_heads * linear.value_head_dim / context.tensor,
          linear.value_heads / context.tensor};
}

MockModule Column(const ModelSpec& model, const ModuleContext& context) {
  const LinearAttention& linear = *model.linear_attention;
  const Widths width = WidthsOf(linear, context);
  const int64_t mixed = 2 * width.keys + width.values;
  // Other outputs: the output gate, and a rate and a decay for each head.
  const int64_t outputs = mixed + width.values + 2 * width.value_heads;

  ModuleBuilder builder("attention_gdn_column", context);
  AddNorm(model, builder);
  builder.BeginRegion(model.hidden);
  builder.Linear({.op = "qkv_linear",
                  .tokens = context.tokens(),
                  .inputs = model.hidden,
                  .outputs = outputs,
                  .saved_tokens = context.split_tokens()});
  builder.Parameters(model.hidden * outputs);
  builder.Stream({.op = "conv",
                  .elements = context.tokens() * mixed,
                  .forward = 2,
                  .backward = 4,
                  .saved_bytes = 2 * context.tokens() * mixed});
  builder.Parameters(mixed * linear.conv_kernel);
  return builder.Take();
}

MockModule Row(const ModelSpec& model, const ModuleContext& context) {
  const LinearAttention& linear = *model.linear_attention;
  const Widths width = WidthsOf(linear, context);
  const int64_t elements = context.tokens() * width.values;
  DeltaRule rule{.batch = context.sequences,
                 .positions = context.positions / context.context,
                 .heads = width.value_heads,
                 .key_dim = linear.key_head_dim,
                 .value_dim = linear.value_head_dim};

  ModuleBuilder builder("attention_gdn_row", context);
  builder.Forward({"delta_rule", rule, Precision::kBf16});
  rule.backward = true;
  builder.Backward({"delta_rule", rule, Precision::kBf16});
  builder.Saved(2 * context.tokens() * (2 * width.keys + width.values));
  builder.Parameters(2 * width.value_heads);  // Decay rates and biases.
  if (!context.training) {
    constexpr int64_t kFloatBytes = 4;
    builder.KvCache(kFloatBytes * context.sequences * width.value_heads *
                    linear.key_head_dim * linear.value_head_dim);
  }
  builder.Stream({.op = "rms_norm",
                  .elements = elements,
                  .forward = 3,
                  .backward = 5,
                  .saved_bytes = 4 * elements});
  builder.ReplicatedParameters(linear.value_head_dim);
  builder.Linear({.op = "output_linear",
                  .tokens = context.tokens(),
                  .inputs = width.values,
                  .outputs = model.hidden,
                  .casts_inputs = true});
  builder.Parameters(width.values * model.hidden);
  builder.EndRegion(model.hidden);
  AddResidual(model, builder);
  return builder.Take();
}

}  // namespace

std::vector<MockModule> LinearAttentionModules(const ModelSpec& model,
                                               const ModuleContext& context) {
  return {Column(model, context), Row(model, context)};
}

}  // namespace astra
