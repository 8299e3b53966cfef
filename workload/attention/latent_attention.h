// Multi-head latent attention (MLA), which projects queries, and keys with
// values, from narrow latent vectors.
//
// Source: DeepSeek-V2, arXiv 2405.04434, section 2.1 and appendix C.

#ifndef WORKLOAD_ATTENTION_LATENT_ATTENTION_H_
#define WORKLOAD_ATTENTION_LATENT_ATTENTION_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "workload/attention/attention.h"

namespace astra {

// See AttentionKind for the functions.
struct LatentAttention {
  static constexpr std::string_view kName = "latent";
  static constexpr std::string_view kBeside = "";
  static constexpr std::string_view kModules = "attention_";
  static constexpr std::string_view kInferredLayer = "attention_layer";

  int64_t heads = 0;
  int64_t q_lora_rank = 0;  // 0: queries are projected without a latent vector.
  int64_t kv_lora_rank = 0;
  int64_t nope_head_dim = 0;
  int64_t rope_head_dim = 0;
  int64_t v_head_dim = 0;

  bool HasBlock(int64_t /*layer*/) const { return true; }
  void Visit(FieldVisitor& visitor);
  absl::Status Check() const { return absl::OkStatus(); }
  static bool IsIn(ConfigJson& config, std::string_view model_type);
  void Read(ConfigJson& config, std::string_view model_type,
            const ModelShape& model);
  std::string_view LayerType(int64_t /*layer*/) const {
    return "full_attention";
  }
  // Returns "attention_linear_q_lora" (where queries have a latent vector),
  // "attention_q_column", "attention_linear_kv_lora", "attention_kv_column" and
  // "attention_o_row". Every TP rank makes the latent vectors of its split
  // tokens. What is made from the latent vectors is split by heads.
  //
  // A decode step works on the cached latent vectors directly: the projections
  // to keys and values are absorbed into queries and outputs, so that each
  // token of the cache is read once for all heads.
  std::vector<MockModule> Modules(const ModelShape& model, int64_t layer,
                                  const ModuleContext& context) const;
  absl::Status CheckTensor(int64_t tensor) const;
  absl::Status CheckContext(const ModuleContext& context) const;
  double Scores(int64_t /*layer*/, int64_t positions) const {
    return static_cast<double>(heads *
                               (nope_head_dim + rope_head_dim + v_head_dim)) *
           MeanKeys(positions, positions);
  }

  friend bool operator==(const LatentAttention&,
                         const LatentAttention&) = default;
};

}  // namespace astra

#endif  // WORKLOAD_ATTENTION_LATENT_ATTENTION_H_
