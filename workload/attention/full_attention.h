// Attention of every head to all earlier positions, or to those in a sliding
// window. With kv_heads < heads it is grouped-query attention (MHA, GQA, MQA).

#ifndef WORKLOAD_ATTENTION_FULL_ATTENTION_H_
#define WORKLOAD_ATTENTION_FULL_ATTENTION_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "workload/attention/attention.h"

namespace astra {

// See AttentionKind for the functions.
struct FullAttention {
  static constexpr std::string_view kName = "full";
  static constexpr std::string_view kBeside = "";
  static constexpr std::string_view kModules = "attention_";
  static constexpr std::string_view kInferredLayer = "attention_layer";

  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  bool qkv_bias = false;
  bool output_bias = false;
  bool qk_norm = false;      // An RMS norm of head_dim on queries and on keys.
  bool output_gate = false;  // Another query-sized projection (Qwen3-Next).
  bool sinks = false;        // A learned logit for each head (GPT-OSS).
  // If > 0, block 0 and then every `window_every`-th block looks back at most
  // `window` positions (GPT-OSS: 128, every second block).
  int64_t window = 0;
  int64_t window_every = 0;

  bool HasBlock(int64_t /*layer*/) const { return true; }
  bool HasWindow(int64_t layer) const {
    return window > 0 && layer % window_every == 0;
  }
  void Visit(FieldVisitor& visitor);
  absl::Status Check() const;
  static bool IsIn(ConfigJson& config, std::string_view model_type);
  void Read(ConfigJson& config, std::string_view model_type,
            const ModelShape& model);
  std::string_view LayerType(int64_t layer) const {
    return HasWindow(layer) ? "sliding_attention" : "full_attention";
  }
  // Returns "attention_column" (the norm, the projection to queries, keys and
  // values, and their rotation) and "attention_row" (the scores, the output
  // projection and the residual). A TP rank has heads / TP query heads and at
  // least one key head.
  std::vector<MockModule> Modules(const ModelShape& model, int64_t layer,
                                  const ModuleContext& context) const;
  absl::Status CheckTensor(int64_t tensor) const;
  absl::Status CheckContext(const ModuleContext& context) const;
  double Scores(int64_t layer, int64_t positions) const {
    return static_cast<double>(2 * heads * head_dim) *
           MeanKeys(positions, HasWindow(layer) ? window : positions);
  }

  friend bool operator==(const FullAttention&, const FullAttention&) = default;
};

}  // namespace astra

#endif  // WORKLOAD_ATTENTION_FULL_ATTENTION_H_
