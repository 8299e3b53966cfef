// The modules of a block that training may run again in the backward pass
// instead of keeping what they make, by the names of Megatron-Core's
// --recompute-modules:
//
// clang-format off
//   name            runs again                        is not kept
//   core_attn       scores and weighted sums          what lies between them; the output is kept
//   layernorm       norms before attention and        their outputs
//                   before the feed-forward part
//   mla_up_proj     norms of latent vectors, up       normed latent vectors, queries, keys, values
//                   projections, rotation
//   mlp             the dense feed-forward part       all but its input; its norm is part of it
//                   with its norm
//   moe             router, experts, shared experts,  all but its normed input
//                   and the way of tokens
//   moe_act         the activation of experts         its output
//   shared_experts  the experts of every token        all but their input
//   op              every operator but attention,     all but the outputs of these and the input
//                   reduce-scatters and every         of the block
//                   second product
// clang-format on
//
// "op" is the policy of TorchTitan and stands alone.
//
// Smaller parts follow, which have no name here. SimuMax's strategies choose
// among them; see astra-core/planner/simumax.
//
// Sources: Megatron-LM, megatron/core/transformer/transformer_config.py,
// recompute_modules ("moe_act", "layernorm" and "mla_up_proj" discard outputs,
// the others are usual checkpoints), and multi_latent_attention.py; TorchTitan,
// torchtitan/parallelisms/parallelize_llama.py of December 2024, _save_list.

#ifndef WORKLOAD_MODULES_RECOMPUTE_MODULE_H_
#define WORKLOAD_MODULES_RECOMPUTE_MODULE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace astra {

enum class RecomputeModule : uint8_t {
  kCoreAttention,
  kLayerNorm,
  kLatentUpProjection,
  kMlp,
  kMoe,
  kMoeActivation,
  kSharedExperts,
  kOperators,
  // Parts of the modules above and below them, without a name.
  kAttentionNorm,        // The norm before attention.
  kFeedForwardNorm,      // The norm before the feed-forward part or experts.
  kQkvProjection,        // Their projection, which is one product.
  kLatentDown,           // The products that make latent vectors.
  kFeedForwardProducts,  // The dense feed-forward part without its norm.
  kExpertProducts,       // Products and activation of the routed experts.
  kRouter,
};
constexpr std::string_view kRecomputeModuleNames[] = {
    "core_attn", "layernorm", "mla_up_proj",    "mlp",
    "moe",       "moe_act",   "shared_experts", "op"};

constexpr std::string_view Name(RecomputeModule module) {
  const auto index = static_cast<size_t>(module);
  return index < std::size(kRecomputeModuleNames) ? kRecomputeModuleNames[index]
                                                  : "a part";
}

// Returns whether what a module makes last is kept although the module runs
// again. The others discard their outputs, and whatever keeps these as its
// input waits for them.
constexpr bool KeepsOutputs(RecomputeModule module) {
  switch (module) {
    case RecomputeModule::kLayerNorm:
    case RecomputeModule::kLatentUpProjection:
    case RecomputeModule::kMoeActivation:
    case RecomputeModule::kOperators:
    case RecomputeModule::kAttentionNorm:
    case RecomputeModule::kFeedForwardNorm:
    case RecomputeModule::kQkvProjection:
      return false;
    case RecomputeModule::kCoreAttention:
    case RecomputeModule::kMlp:
    case RecomputeModule::kMoe:
    case RecomputeModule::kSharedExperts:
    case RecomputeModule::kLatentDown:
    case RecomputeModule::kFeedForwardProducts:
    case RecomputeModule::kExpertProducts:
    case RecomputeModule::kRouter:
      return true;
  }
  return true;
}

// A set of modules.
class RecomputeModules {
 public:
  constexpr RecomputeModules() = default;
  constexpr RecomputeModules(RecomputeModule module)  // NOLINT: one of them.
      : bits_(Bit(module)) {}

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool Has(RecomputeModule module) const {
    return (bits_ & Bit(module)) != 0;
  }
  constexpr bool Meets(RecomputeModules other) const {
    return (bits_ & other.bits_) != 0;
  }
  constexpr RecomputeModules Common(RecomputeModules other) const {
    RecomputeModules common = *this;
    common.bits_ &= other.bits_;
    return common;
  }
  constexpr void Add(RecomputeModules others) { bits_ |= others.bits_; }
  constexpr void Remove(RecomputeModules others) { bits_ &= ~others.bits_; }

  friend constexpr bool operator==(RecomputeModules,
                                   RecomputeModules) = default;

 private:
  static constexpr uint32_t Bit(RecomputeModule module) {
    return uint32_t{1} << static_cast<uint32_t>(module);
  }

  uint32_t bits_ = 0;
};

// Returns the names of `modules`.
std::vector<std::string_view> NamesOf(RecomputeModules modules);

// Returns the modules of these names.
//
// Errors: InvalidArgument for an unknown name, for one that stands there twice,
// and for "op" beside others.
absl::StatusOr<RecomputeModules> ParseRecomputeModules(
    absl::Span<const std::string> names);

// Errors: InvalidArgument if `model`, whose blocks have `present`, lacks one of
// `wanted`.
absl::Status CheckHasModules(std::string_view model, RecomputeModules wanted,
                             RecomputeModules present);

}  // namespace astra

#endif  // WORKLOAD_MODULES_RECOMPUTE_MODULE_H_
