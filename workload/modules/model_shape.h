// Describes the shape of a transformer, without its attention, as far as it
// determines weights and FLOPs. ModelSpec adds the attention and the names.
//
// A model is `layers` blocks of attention and a feed-forward part between an
// embedding and an output head.
//
// Source: the configuration files of Hugging Face transformers, which have
// these fields under similar names. Each model file names its own source.

#ifndef WORKLOAD_MODULES_MODEL_SHAPE_H_
#define WORKLOAD_MODULES_MODEL_SHAPE_H_

#include <cstdint>
#include <optional>

#include "astra-core/base/expert_routing.h"

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
  int64_t groups = 1;      // Groups of experts; see ExpertRouting.
  int64_t top_groups = 1;  // Groups that a token may reach.

  friend bool operator==(const Experts&, const Experts&) = default;
};

inline ExpertRouting RoutingOf(const Experts& experts) {
  return {.experts = experts.experts,
          .top_k = experts.top_k,
          .groups = experts.groups,
          .top_groups = experts.top_groups};
}

// Removes the groups of `experts` if the router is not the one of `before`: the
// user gave another number of experts or another top_k, which the groups of the
// published model need not fit.
inline void RemoveGroupsIfChanged(const Experts& before, Experts& experts) {
  if (experts.experts == before.experts && experts.top_k == before.top_k) {
    return;
  }
  experts.groups = 1;
  experts.top_groups = 1;
}

struct ModelShape {
  static constexpr int64_t kMaxLayers = 1000;
  static constexpr int64_t kMaxPositions = 1 << 30;

  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t vocabulary = 0;
  Positions positions = Positions::kRotary;
  int64_t max_positions = 0;  // Longest sequence, in positions; 0: not stated.
  bool tied_embeddings = false;
  Norm norm = Norm::kRms;
  bool norm_bias = false;
  bool dropout = false;  // Trained with dropout on hidden states (GPT-3 style).

  FeedForward feed_forward;
  std::optional<Experts> experts;

  bool HasExperts(int64_t layer) const {
    return experts.has_value() && layer >= experts->dense_layers;
  }

  bool HasSharedExperts() const {
    return experts.has_value() && experts->shared_ffn > 0;
  }

  friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

}  // namespace astra

#endif  // WORKLOAD_MODULES_MODEL_SHAPE_H_
