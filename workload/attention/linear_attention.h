// Gated delta net: attention whose state has a fixed size, in the blocks
// without full attention.
//
// Source: Yang et al., "Gated Delta Networks", arXiv 2412.06464, section 3; the
// widths as in Qwen3-Next of Hugging Face transformers.

#ifndef WORKLOAD_ATTENTION_LINEAR_ATTENTION_H_
#define WORKLOAD_ATTENTION_LINEAR_ATTENTION_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "workload/attention/attention.h"

namespace astra {

// See AttentionKind for the functions.
struct LinearAttention {
  static constexpr std::string_view kName = "linear";
  static constexpr std::string_view kBeside = "full";
  static constexpr std::string_view kModules = "attention_gdn_";
  static constexpr std::string_view kInferredLayer = "attention_gdn";

  int64_t key_heads = 0;
  int64_t value_heads = 0;
  int64_t key_head_dim = 0;
  int64_t value_head_dim = 0;
  int64_t conv_kernel = 0;
  int64_t full_attention_every = 0;  // 4: full attention in blocks 4, 8, ...

  bool HasBlock(int64_t layer) const {
    return (layer + 1) % full_attention_every != 0;
  }
  void Visit(FieldVisitor& visitor);
  absl::Status Check() const;
  static bool IsIn(ConfigJson& config, std::string_view model_type);
  void Read(ConfigJson& config, std::string_view model_type,
            const ModelShape& model);
  std::string_view LayerType(int64_t /*layer*/) const {
    return "linear_attention";
  }
  // Returns "attention_gdn_column" (the norm, the projections to queries, keys,
  // values, gates and decays, and a short convolution) and "attention_gdn_row"
  // (the delta rule, a gated norm, the output projection and the residual). TP
  // splits the heads.
  std::vector<MockModule> Modules(const ModelShape& model, int64_t layer,
                                  const ModuleContext& context) const;
  absl::Status CheckTensor(int64_t tensor) const;
  absl::Status CheckContext(const ModuleContext& context) const;
  // Its state has a fixed size.
  double Scores(int64_t /*layer*/, int64_t /*positions*/) const { return 0; }

  friend bool operator==(const LinearAttention&,
                         const LinearAttention&) = default;
};

}  // namespace astra

#endif  // WORKLOAD_ATTENTION_LINEAR_ATTENTION_H_
