// Describes a model: its names, its shape, which determines weights and FLOPs,
// and the attention of its blocks.
//
// Blocks may differ in two ways: with experts, the first `dense_layers` have a
// plain feed-forward part; with another kind of attention, such as linear
// attention, that kind names the blocks that have it.

#ifndef WORKLOAD_MODELS_MODEL_SPEC_H_
#define WORKLOAD_MODELS_MODEL_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "workload/attention/registry.h"
#include "workload/modules/model_shape.h"

namespace astra {

struct ModelSpec : ModelShape {
  std::string name;
  std::vector<std::string> aliases;  // Other names that a user may type.
  std::vector<std::string> sources;
  // Number of parameters that the source states, to the digits it gives; none
  // where no count was published (AICB's preset shapes).
  std::optional<int64_t> published_parameters;

  AnyAttention attention;
  // Attention of another kind, in the blocks that it names.
  std::optional<AnyAttention> other_attention;

  const AnyAttention& AttentionOf(int64_t layer) const;

  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

// Errors: InvalidArgument "FIELD is VALUE: RULE" where a size is out of range,
// the attention breaks a rule of its kind, or top_k exceeds the number of
// experts.
absl::Status CheckModel(const ModelSpec& model);

}  // namespace astra

#endif  // WORKLOAD_MODELS_MODEL_SPEC_H_
