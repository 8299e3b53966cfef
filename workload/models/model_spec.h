// Describes the shape of a transformer, which determines its weights and FLOPs.
//
// A model is `layers` blocks of attention and a feed-forward part between an
// embedding and an output head. Blocks may differ in two ways: with experts,
// the first `moe.dense_layers` have a plain feed-forward part; with linear
// attention, only every `linear.full_attention_every`-th has full attention.
//
// Source: the configuration files of Hugging Face transformers, which have
// these fields under similar names. Each model file names its own source.

#ifndef WORKLOAD_MODELS_MODEL_SPEC_H_
#define WORKLOAD_MODELS_MODEL_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace astra {

enum class Positions : uint8_t {
  kRotary,   // Rotates queries and keys; has no parameters.
  kLearned,  // Adds a table of max_positions x hidden parameters.
  kAlibi,    // Adds a bias to the scores; has no parameters.
};

enum class Norm : uint8_t {
  kRms,    // Has a gain for each element.
  kLayer,  // Has a gain and, with `norm_bias`, a bias.
};

// Attention of every head to all earlier positions. With kv_heads < heads it is
// grouped-query attention.
struct FullAttention {
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

  friend bool operator==(const FullAttention&, const FullAttention&) = default;
};

// Multi-head latent attention.
//
// Source: DeepSeek-V2, arXiv 2405.04434, section 2.1.
struct LatentAttention {
  int64_t heads = 0;
  int64_t q_lora_rank = 0;  // 0: queries are projected without a latent vector.
  int64_t kv_lora_rank = 0;
  int64_t nope_head_dim = 0;
  int64_t rope_head_dim = 0;
  int64_t v_head_dim = 0;

  friend bool operator==(const LatentAttention&,
                         const LatentAttention&) = default;
};

// Gated delta net, used in the blocks without full attention.
//
// Source: Yang et al., "Gated Delta Networks", arXiv 2412.06464; Qwen3-Next.
struct LinearAttention {
  int64_t key_heads = 0;
  int64_t value_heads = 0;
  int64_t key_head_dim = 0;
  int64_t value_head_dim = 0;
  int64_t conv_kernel = 0;
  int64_t full_attention_every = 0;  // 4: full attention in blocks 4, 8, ...

  friend bool operator==(const LinearAttention&,
                         const LinearAttention&) = default;
};

struct FeedForward {
  int64_t ffn = 0;  // Width; 0 where every block has experts.
  // Three matrices (SwiGLU) instead of two (GELU); applies to experts as well.
  bool gated = false;
  bool bias = false;

  friend bool operator==(const FeedForward&, const FeedForward&) = default;
};

// Mixture of experts, used from block `dense_layers` on.
struct Experts {
  int64_t experts = 0;
  int64_t top_k = 0;         // Experts that a token is routed to.
  int64_t ffn = 0;           // Width of one expert.
  int64_t shared_ffn = 0;    // Width of all shared experts together, or 0.
  bool shared_gate = false;  // The shared experts have a gate of one output.
  bool router_bias = false;  // The router has a bias for each expert.
  bool expert_bias = false;  // The matrices of the experts have biases.
  int64_t dense_layers = 0;

  friend bool operator==(const Experts&, const Experts&) = default;
};

struct ModelSpec {
  std::string name;
  std::vector<std::string> aliases;  // Other names that a user may type.
  std::vector<std::string> sources;
  // Number of parameters that the source states, to the digits it gives; none
  // where no count was published (AICB's preset shapes).
  std::optional<int64_t> published_parameters;

  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t vocabulary = 0;
  Positions positions = Positions::kRotary;
  int64_t max_positions = 0;  // Longest sequence, in positions; 0: not stated.
  bool tied_embeddings = false;
  Norm norm = Norm::kRms;
  bool norm_bias = false;
  bool dropout = false;  // Trained with dropout on hidden states (GPT-3 style).

  // Exactly one of these two kinds is present.
  std::optional<FullAttention> full_attention;
  std::optional<LatentAttention> latent_attention;
  std::optional<LinearAttention>
      linear_attention;  // Used beside full attention.

  FeedForward feed_forward;
  std::optional<Experts> experts;

  bool HasExperts(int64_t layer) const {
    return experts.has_value() && layer >= experts->dense_layers;
  }
  bool HasLinearAttention(int64_t layer) const {
    return linear_attention.has_value() &&
           (layer + 1) % linear_attention->full_attention_every != 0;
  }
  bool HasWindow(int64_t layer) const {
    return full_attention.has_value() && full_attention->window > 0 &&
           layer % full_attention->window_every == 0;
  }

  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

// Errors: InvalidArgument "FIELD is VALUE: RULE" where a size is out of range,
// kv_heads does not divide heads, both kinds of full attention or none are
// given, or top_k exceeds the number of experts.
absl::Status CheckModel(const ModelSpec& model);

}  // namespace astra

#endif  // WORKLOAD_MODELS_MODEL_SPEC_H_
