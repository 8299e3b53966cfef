#include "workload/models/model_spec.h"

#include <string_view>

#include "absl/types/span.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Limits beyond every trained model. They keep the number of parameters within
// an int64_t: 3 x layers x experts x hidden x ffn is below 2^61.
constexpr int64_t kMaxLayers = 1000;
constexpr int64_t kMaxHidden = 1 << 17;
constexpr int64_t kMaxFfn = 1 << 20;
constexpr int64_t kMaxVocabulary = 1 << 24;
constexpr int64_t kMaxPositions = 1 << 30;
constexpr int64_t kMaxHeads = 1 << 12;
constexpr int64_t kMaxHeadDim = 1 << 12;
constexpr int64_t kMaxRank = 1 << 17;
constexpr int64_t kMaxExperts = 1 << 12;

struct Size {
  std::string_view field;
  int64_t value;
  int64_t min;
  int64_t max;
};

absl::Status Wrong(std::string_view field, int64_t value,
                   std::string_view rule) {
  return absl::InvalidArgumentError(
      fmt::format("{} is {}: {}", field, value, rule));
}

absl::Status CheckSizes(absl::Span<const Size> sizes) {
  for (const Size& size : sizes) {
    if (size.value >= size.min && size.value <= size.max) continue;
    return Wrong(size.field, size.value,
                 fmt::format("expected {} to {}", size.min, size.max));
  }
  return absl::OkStatus();
}

absl::Status CheckText(std::string_view field, std::string_view text) {
  if (!text.empty() && IsPlain(text)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{} is {}: expected text without control characters", field,
                  Quoted(text)));
}

absl::Status CheckTexts(const ModelSpec& model) {
  ASTRA_RETURN_IF_ERROR(CheckText("name", model.name));
  for (const std::string& alias : model.aliases) {
    ASTRA_RETURN_IF_ERROR(CheckText("aliases", alias));
  }
  for (const std::string& source : model.sources) {
    ASTRA_RETURN_IF_ERROR(CheckText("source", source));
  }
  return absl::OkStatus();
}

absl::Status CheckFullAttention(const FullAttention& attention) {
  ASTRA_RETURN_IF_ERROR(CheckSizes({
      {"attention.heads", attention.heads, 1, kMaxHeads},
      {"attention.kv_heads", attention.kv_heads, 1, kMaxHeads},
      {"attention.head_dim", attention.head_dim, 1, kMaxHeadDim},
      {"attention.window", attention.window, 0, kMaxPositions},
      {"attention.window_every", attention.window_every, 0, kMaxLayers},
  }));
  if (attention.heads % attention.kv_heads != 0) {
    return Wrong(
        "attention.kv_heads", attention.kv_heads,
        fmt::format("expected a divisor of the {} heads", attention.heads));
  }
  if ((attention.window > 0) != (attention.window_every > 0)) {
    return Wrong("attention.window", attention.window,
                 fmt::format("expected both window and window_every, which "
                             "is {}, or neither",
                             attention.window_every));
  }
  return absl::OkStatus();
}

absl::Status CheckLatentAttention(const LatentAttention& attention) {
  return CheckSizes({
      {"attention.heads", attention.heads, 1, kMaxHeads},
      {"attention.q_lora_rank", attention.q_lora_rank, 0, kMaxRank},
      {"attention.kv_lora_rank", attention.kv_lora_rank, 1, kMaxRank},
      {"attention.nope_head_dim", attention.nope_head_dim, 1, kMaxHeadDim},
      {"attention.rope_head_dim", attention.rope_head_dim, 1, kMaxHeadDim},
      {"attention.v_head_dim", attention.v_head_dim, 1, kMaxHeadDim},
  });
}

absl::Status CheckLinearAttention(const LinearAttention& linear) {
  ASTRA_RETURN_IF_ERROR(CheckSizes({
      {"linear_attention.key_heads", linear.key_heads, 1, kMaxHeads},
      {"linear_attention.value_heads", linear.value_heads, 1, kMaxHeads},
      {"linear_attention.key_head_dim", linear.key_head_dim, 1, kMaxHeadDim},
      {"linear_attention.value_head_dim", linear.value_head_dim, 1,
       kMaxHeadDim},
      {"linear_attention.conv_kernel", linear.conv_kernel, 1, kMaxHeadDim},
      {"linear_attention.full_attention_every", linear.full_attention_every, 2,
       kMaxLayers},
  }));
  if (linear.value_heads % linear.key_heads == 0) return absl::OkStatus();
  return Wrong(
      "linear_attention.value_heads", linear.value_heads,
      fmt::format("expected a multiple of the {} key heads", linear.key_heads));
}

absl::Status CheckAttention(const ModelSpec& model) {
  const int kinds =
      (model.full_attention ? 1 : 0) + (model.latent_attention ? 1 : 0);
  if (kinds != 1) {
    return Wrong("attention", kinds,
                 "expected one of full and latent attention");
  }
  if (model.latent_attention) {
    ASTRA_RETURN_IF_ERROR(CheckLatentAttention(*model.latent_attention));
  } else {
    ASTRA_RETURN_IF_ERROR(CheckFullAttention(*model.full_attention));
  }
  if (!model.linear_attention) return absl::OkStatus();
  if (model.latent_attention) {
    return absl::InvalidArgumentError(
        "linear_attention is there: expected it beside full attention only");
  }
  return CheckLinearAttention(*model.linear_attention);
}

absl::Status CheckExperts(const Experts& experts, int64_t layers) {
  ASTRA_RETURN_IF_ERROR(CheckSizes({
      {"experts.experts", experts.experts, 1, kMaxExperts},
      {"experts.top_k", experts.top_k, 1, kMaxExperts},
      {"experts.ffn", experts.ffn, 1, kMaxFfn},
      {"experts.shared_ffn", experts.shared_ffn, 0, kMaxFfn},
      {"experts.dense_layers", experts.dense_layers, 0, layers - 1},
  }));
  if (experts.top_k > experts.experts) {
    return Wrong(
        "experts.top_k", experts.top_k,
        fmt::format("expected no more than the {} experts", experts.experts));
  }
  if (experts.shared_gate && experts.shared_ffn == 0) {
    return absl::InvalidArgumentError(
        "experts.shared_gate is true: expected it with shared_ffn only");
  }
  return absl::OkStatus();
}

absl::Status CheckFeedForward(const ModelSpec& model) {
  if (model.experts) {
    ASTRA_RETURN_IF_ERROR(CheckExperts(*model.experts, model.layers));
  }
  const int64_t ffn = model.feed_forward.ffn;
  if (!model.HasExperts(0)) {
    return CheckSizes({{"feed_forward.ffn", ffn, 1, kMaxFfn}});
  }
  if (ffn == 0) return absl::OkStatus();
  return Wrong("feed_forward.ffn", ffn,
               "expected 0, as every block has experts");
}

}  // namespace

absl::Status CheckModel(const ModelSpec& model) {
  ASTRA_RETURN_IF_ERROR(CheckTexts(model));
  ASTRA_RETURN_IF_ERROR(CheckSizes({
      {"layers", model.layers, 1, kMaxLayers},
      {"hidden", model.hidden, 1, kMaxHidden},
      {"vocabulary", model.vocabulary, 1, kMaxVocabulary},
      {"max_positions", model.max_positions,
       model.positions == Positions::kLearned ? 1 : 0, kMaxPositions},
  }));
  if (model.norm_bias && model.norm == Norm::kRms) {
    return absl::InvalidArgumentError(
        "norm_bias is true: an RMS norm has no bias");
  }
  ASTRA_RETURN_IF_ERROR(CheckAttention(model));
  return CheckFeedForward(model);
}

}  // namespace astra
