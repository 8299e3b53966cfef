#include "workload/attention/linear_attention.h"

#include "fmt/core.h"
#include "workload/attention/projections.h"
#include "workload/modules/module_builder.h"
#include "workload/modules/size_rules.h"

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

MockModule Column(const LinearAttention& linear, const ModelShape& model,
                  const ModuleContext& context) {
  const Widths width = WidthsOf(linear, context);
  const int64_t mixed = 2 * width.keys + width.values;
  // Other outputs: the output gate, and a rate and a decay for each head.
  const int64_t outputs = mixed + width.values + 2 * width.value_heads;

  ModuleBuilder builder = BeginColumn("attention_gdn_column", "qkv_linear",
                                      outputs, model, context);
  builder.Stream({.op = "conv",
                  .elements = context.tokens() * mixed,
                  .forward = 2,
                  .backward = 4,
                  .saved_bytes = 2 * context.tokens() * mixed});
  builder.Parameters(mixed * linear.conv_kernel);
  return builder.Take();
}

MockModule Row(const LinearAttention& linear, const ModelShape& model,
               const ModuleContext& context) {
  const Widths width = WidthsOf(linear, context);
  const int64_t elements = context.tokens() * width.values;
  DeltaRule rule{.batch = context.sequences,
                 .positions = context.positions / context.context,
                 .heads = width.value_heads,
                 .key_dim = linear.key_head_dim,
                 .value_dim = linear.value_head_dim};

  ModuleBuilder builder("attention_gdn_row", context);
  builder.Begin(RecomputeModule::kCoreAttention);
  builder.Forward({"delta_rule", rule, Precision::kBf16});
  builder.End(RecomputeModule::kCoreAttention);
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
  AddOutputProjection(width.values, model, builder);
  return builder.Take();
}

}  // namespace

void LinearAttention::Visit(FieldVisitor& visitor) {
  visitor.Size("key_heads", key_heads, {kMaxHeads});
  visitor.Size("value_heads", value_heads, {kMaxHeads});
  visitor.Size("key_head_dim", key_head_dim, {kMaxHeadDim});
  visitor.Size("value_head_dim", value_head_dim, {kMaxHeadDim});
  visitor.Size("conv_kernel", conv_kernel, {kMaxHeadDim});
  visitor.Size("full_attention_every", full_attention_every,
               {.max = ModelShape::kMaxLayers, .min = 2});
}

absl::Status LinearAttention::Check() const {
  if (value_heads % key_heads == 0) return absl::OkStatus();
  return WrongSize(
      "linear_attention.value_heads", value_heads,
      fmt::format("expected a multiple of the {} key heads", key_heads));
}

bool LinearAttention::IsIn(ConfigJson& /*config*/,
                           std::string_view model_type) {
  return model_type == "qwen3_next";
}

void LinearAttention::Read(ConfigJson& config, std::string_view /*model_type*/,
                           const ModelShape& /*model*/) {
  key_heads = config.Integer("linear_num_key_heads");
  value_heads = config.Integer("linear_num_value_heads");
  key_head_dim = config.Integer("linear_key_head_dim");
  value_head_dim = config.Integer("linear_value_head_dim");
  conv_kernel = config.Integer("linear_conv_kernel_dim");
  full_attention_every = config.IntegerOr("full_attention_interval", 4);
}

std::vector<MockModule> LinearAttention::Modules(
    const ModelShape& model, int64_t /*layer*/,
    const ModuleContext& context) const {
  return {Column(*this, model, context), Row(*this, model, context)};
}

absl::Status LinearAttention::CheckTensor(int64_t tensor) const {
  return MustDivide("TP", tensor, key_heads, "heads of linear attention");
}

absl::Status LinearAttention::CheckContext(const ModuleContext& context) const {
  return absl::InvalidArgumentError(
      fmt::format("CP {} with linear attention is not modelled: its states "
                  "would go from rank to rank",
                  context.context));
}

}  // namespace astra
