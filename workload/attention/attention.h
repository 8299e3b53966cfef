// Defines what a kind of attention is: a struct with the sizes of its shape and
// all else that other code must know about it. registry.h lists the kinds.

#ifndef WORKLOAD_ATTENTION_ATTENTION_H_
#define WORKLOAD_ATTENTION_ATTENTION_H_

#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "workload/attention/config_json.h"
#include "workload/modules/model_shape.h"
#include "workload/modules/module.h"

namespace astra {

// Limits beyond every trained model; see workload/models/model_spec.cc.
inline constexpr int64_t kMaxHeads = 1 << 12;
inline constexpr int64_t kMaxHeadDim = 1 << 12;
inline constexpr int64_t kMaxRank = 1 << 17;

// Visits the fields of a kind, to read, write or check them. `key` is the key
// of a field in a model file.
class FieldVisitor {
 public:
  struct Limits {
    int64_t max;
    int64_t min = 1;
  };

  virtual ~FieldVisitor() = default;
  virtual void Size(std::string_view key, int64_t& value, Limits limits) = 0;
  // Visits a size that is 0 if a file leaves it out.
  virtual void SizeOrZero(std::string_view key, int64_t& value,
                          int64_t max) = 0;
  virtual void Flag(std::string_view key, bool& value) = 0;
};

// The members of a kind. SECTION is the section of a model file that describes
// it: "attention", or NAME_attention for a kind that stands beside another.
//
// clang-format off
//   kName           is the kind in a model file: "full".
//   kBeside         is the kName of the attention in the other blocks; empty for
//                   a kind that all blocks have.
//   HasBlock        tells which blocks have a kind that stands beside another.
//   Visit           names all fields.
//   Check           checks the rules beyond the limits of Visit. Its message
//                   begins with SECTION.FIELD.
//   IsIn            tells whether a config.json of Hugging Face has this kind.
//                   Of several such kinds, the last of the registry counts.
//   Read            reads all fields from a config.json.
//   LayerType       is the name of a block in "layer_types" of a config.json.
//   Modules         returns what a block computes, keeps and communicates.
//   kModules        is the begin of the names of these modules, which all begin
//                   with "attention_".
//   kInferredLayer  is the name of these modules in SimAI's text of inference.
//   CheckTensor     checks that TP of a size can split it.
//   CheckContext    checks that CP, of more than one rank, can split it.
//   Scores          is what a position of a sequence multiplies in the mean, to
//                   score the keys that it sees and to sum their values: heads x
//                   (elements of a key + elements of a value) x MeanKeys.
// clang-format on
template <class Kind>
concept AttentionKind = std::equality_comparable<Kind> &&
    requires(Kind kind, const Kind& of, FieldVisitor& visitor,
             ConfigJson& config, std::string_view type, int64_t number,
             const ModelShape& model, const ModuleContext& context) {
  { Kind::kName } -> std::convertible_to<std::string_view>;
  { Kind::kBeside } -> std::convertible_to<std::string_view>;
  { Kind::kModules } -> std::convertible_to<std::string_view>;
  { Kind::kInferredLayer } -> std::convertible_to<std::string_view>;
  { of.HasBlock(number) } -> std::same_as<bool>;
  kind.Visit(visitor);
  { of.Check() } -> std::same_as<absl::Status>;
  { Kind::IsIn(config, type) } -> std::same_as<bool>;
  kind.Read(config, type, model);
  { of.LayerType(number) } -> std::convertible_to<std::string_view>;
  {
    of.Modules(model, number, context)
    } -> std::same_as<std::vector<MockModule>>;
  { of.CheckTensor(number) } -> std::same_as<absl::Status>;
  { of.CheckContext(context) } -> std::same_as<absl::Status>;
  { of.Scores(number, number) } -> std::same_as<double>;
};

// Returns the keys that a position of a causal sequence sees in the mean, of at
// most `window` up to itself, when half a key counts for its own: w - w^2 / 2s.
constexpr double MeanKeys(int64_t positions, int64_t window) {
  const auto s = static_cast<double>(positions);
  const double w = static_cast<double>(window < positions ? window : positions);
  return w - w * w / (2 * s);
}

}  // namespace astra

#endif  // WORKLOAD_ATTENTION_ATTENTION_H_
