#include "workload/attention/full_attention.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/attention/core_attention.h"
#include "workload/attention/projections.h"
#include "workload/modules/module_builder.h"
#include "workload/modules/size_rules.h"

namespace astra {
namespace {

// How the config.json files of a model type describe attention.
struct Dialect {
  std::string_view model_type;
  // Whether the number of key-value heads may be left out, as by the first
  // Llama models, which lack grouped queries.
  bool may_lack_groups = false;
  // Whether head_dim must be there. Otherwise all heads together may be as wide
  // as the hidden state.
  bool needs_head_dim = false;
  // The default of attention_bias; none: the files have no such key.
  std::optional<bool> bias = std::nullopt;
  // Which blocks have a window; 0: the files have no such key.
  int64_t window_every = 0;
  // Whether files allow windows from a certain block on, which is refused. No
  // published model has them.
  bool refuses_windows = false;
  // Properties that have no key.
  FullAttention fixed = {};
};

constexpr Dialect kDialects[] = {
    {.model_type = "llama", .may_lack_groups = true, .bias = false},
    {.model_type = "mistral", .window_every = 1},
    {.model_type = "mixtral", .window_every = 1},
    {.model_type = "qwen2",
     .refuses_windows = true,
     .fixed = {.qkv_bias = true}},
    {.model_type = "qwen3",
     .needs_head_dim = true,
     .bias = false,
     .refuses_windows = true,
     .fixed = {.qk_norm = true}},
    {.model_type = "qwen3_moe",
     .needs_head_dim = true,
     .bias = false,
     .refuses_windows = true,
     .fixed = {.qk_norm = true}},
    {.model_type = "qwen3_next",
     .needs_head_dim = true,
     .bias = false,
     .refuses_windows = true,
     .fixed = {.qk_norm = true, .output_gate = true}},
    {.model_type = "gpt_oss",
     .needs_head_dim = true,
     .bias = true,
     .window_every = 2,
     .fixed = {.sinks = true}},
};

Dialect DialectOf(std::string_view model_type) {
  const auto* const found = std::find_if(
      std::begin(kDialects), std::end(kDialects),
      [&](const Dialect& one) { return one.model_type == model_type; });
  return found == std::end(kDialects) ? Dialect() : *found;
}

int64_t ReadHeadDim(ConfigJson& config, const Dialect& dialect, int64_t heads,
                    int64_t hidden) {
  if (dialect.needs_head_dim || config.Has("head_dim") || heads == 0) {
    return config.Integer("head_dim");
  }
  if (hidden % heads != 0) {
    config.fields().Error("hidden_size",
                          "without head_dim, hidden_size must be a multiple of "
                          "num_attention_heads");
  }
  return hidden / heads;
}

// Null means no window. The key is required, because the meaning of an absent
// key differs between model types.
int64_t ReadWindow(ConfigJson& config) {
  constexpr std::string_view kKey = "sliding_window";
  const bool is_null = config.fields().has(kKey) && !config.Has(kKey);
  return is_null ? 0 : config.Integer(kKey);
}

// Numbers of heads on one rank.
struct Heads {
  int64_t queries;
  int64_t keys;
};

Heads HeadsOf(const FullAttention& attention, const ModuleContext& context) {
  return {attention.heads / context.tensor,
          std::max<int64_t>(1, attention.kv_heads / context.tensor)};
}

MockModule Column(const FullAttention& attention, bool has_window,
                  const ModelShape& model, const ModuleContext& context) {
  const auto [queries, keys] = HeadsOf(attention, context);
  const int64_t dim = attention.head_dim;
  const int64_t query_width = queries * dim * (attention.output_gate ? 2 : 1);
  const int64_t outputs = query_width + 2 * keys * dim;
  const int64_t rotated = context.tokens() * (queries + keys) * dim;

  ModuleBuilder builder =
      BeginColumn("attention_column", "qkv_linear", outputs, model, context,
                  {query_width, keys * dim, keys * dim});
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
  const int64_t all = context.past + context.positions;
  AddKvCache(2 * keys * dim, has_window ? std::min(all, attention.window) : all,
             builder);
  return builder.Take();
}

MockModule Row(const FullAttention& attention, bool has_window,
               const ModelShape& model, const ModuleContext& context) {
  const auto [queries, keys] = HeadsOf(attention, context);
  const int64_t width = queries * attention.head_dim;

  ModuleBuilder builder("attention_row", context);
  builder.TakesFrom(RecomputeModule::kQkvProjection);
  AddCoreAttention({.heads = queries,
                    .kv_heads = keys,
                    .qk_dim = attention.head_dim,
                    .v_dim = attention.head_dim,
                    .window = has_window ? attention.window : 0,
                    .has_bias = model.positions == Positions::kAlibi,
                    .has_dropout = model.dropout,
                    .output_is_kept = attention.output_gate},
                   builder);
  if (attention.sinks) builder.Parameters(queries);
  if (attention.output_gate) {
    builder.Stream({.op = "gate",
                    .elements = context.tokens() * width,
                    .forward = 3,
                    .backward = 5,
                    .saved_bytes = 4 * context.tokens() * width});
  }
  if (attention.output_bias) builder.ReplicatedParameters(model.hidden);
  AddOutputProjection(width, model, builder);
  return builder.Take();
}

}  // namespace

void FullAttention::Visit(FieldVisitor& visitor) {
  visitor.Size("heads", heads, {kMaxHeads});
  visitor.Size("kv_heads", kv_heads, {kMaxHeads});
  visitor.Size("head_dim", head_dim, {kMaxHeadDim});
  visitor.Flag("qkv_bias", qkv_bias);
  visitor.Flag("output_bias", output_bias);
  visitor.Flag("qk_norm", qk_norm);
  visitor.Flag("output_gate", output_gate);
  visitor.Flag("sinks", sinks);
  visitor.SizeOrZero("window", window, ModelShape::kMaxPositions);
  visitor.SizeOrZero("window_every", window_every, ModelShape::kMaxLayers);
}

absl::Status FullAttention::Check() const {
  if (heads % kv_heads != 0) {
    return WrongSize("attention.kv_heads", kv_heads,
                     fmt::format("expected a divisor of the {} heads", heads));
  }
  if ((window > 0) == (window_every > 0)) return absl::OkStatus();
  return WrongSize("attention.window", window,
                   fmt::format("expected both window and window_every, which "
                               "is {}, or neither",
                               window_every));
}

// Returns true: every model has full attention unless its file has another
// kind.
bool FullAttention::IsIn(ConfigJson& /*config*/,
                         std::string_view /*model_type*/) {
  return true;
}

void FullAttention::Read(ConfigJson& config, std::string_view model_type,
                         const ModelShape& model) {
  constexpr std::string_view kHeads = "num_attention_heads";
  constexpr std::string_view kKvHeads = "num_key_value_heads";
  const Dialect dialect = DialectOf(model_type);
  *this = dialect.fixed;
  heads = config.Integer(kHeads);
  const bool is_grouped = !dialect.may_lack_groups || config.Has(kKvHeads);
  kv_heads = config.Integer(is_grouped ? kKvHeads : kHeads);
  head_dim = ReadHeadDim(config, dialect, heads, model.hidden);
  if (dialect.bias) {
    qkv_bias = config.FlagOr("attention_bias", *dialect.bias);
    output_bias = qkv_bias;
  }
  if (dialect.window_every > 0) {
    window = ReadWindow(config);
    window_every = window > 0 ? dialect.window_every : 0;
  }
  if (dialect.refuses_windows) {
    config.ExpectAbsentOr("use_sliding_window", "false");
    config.Has("sliding_window");  // Marks a key without effect as read.
  }
}

std::vector<MockModule> FullAttention::Modules(
    const ModelShape& model, int64_t layer,
    const ModuleContext& context) const {
  const bool has_window = HasWindow(layer);
  return {Column(*this, has_window, model, context),
          Row(*this, has_window, model, context)};
}

absl::Status FullAttention::CheckTensor(int64_t tensor) const {
  ASTRA_RETURN_IF_ERROR(MustDivide("TP", tensor, heads, "attention heads"));
  if (tensor % kv_heads == 0) return absl::OkStatus();
  return MustDivide("TP", tensor, kv_heads, "key-value heads");
}

absl::Status FullAttention::CheckContext(const ModuleContext& context) const {
  return CheckContextHeads(heads, context);
}

}  // namespace astra
