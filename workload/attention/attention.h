// What a kind of attention is: a struct with the sizes of its shape, which
// knows everything that other code must know of it. registry.h lists the kinds.

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

// Is told the fields of a kind, to read, write or check them. A key is that of
// a model file.
class FieldVisitor {
 public:
  struct Limits {
    int64_t max;
    int64_t min = 1;
  };

  virtual ~FieldVisitor() = default;
  virtual void Size(std::string_view key, int64_t& value, Limits limits) = 0;
  // Visits a size that files may leave out and that is then 0.
  virtual void SizeOrZero(std::string_view key, int64_t& value,
                          int64_t max) = 0;
  virtual void Flag(std::string_view key, bool& value) = 0;
};

// The members of a kind:
//
//   kName           the kind in a model file: "full"
//   kBeside         the name of the attention in the blocks without this kind;
//                   empty for a kind that all blocks have. The section of the
//                   model file is "attention", or "NAME_attention" for a kind
//                   beside another
//   HasBlock        whether a block has this kind where it is beside another
//   Visit           names all fields
//   Check           the rules beyond the limits of Visit. A message begins
//                   with SECTION.FIELD
//   IsIn, Read      whether a config.json of Hugging Face has this kind, and
//                   its fields from there. Of several such kinds, the last of
//                   the registry counts
//   LayerType       what "layer_types" of a config.json calls a block
//   Modules         what a block computes, keeps and communicates
//   kModules        how the names of its modules begin: with "attention_"
//   kInferredLayer  what SimAI's text calls these modules in inference
//   CheckTensor     which sizes of TP split it
//   CheckContext    which context parallelism splits it; called with CP > 1
//   ScoreWidth      elements of a query and a key, and of a value, times heads:
//                   what each pair of positions multiplies
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
  { of.ScoreWidth() } -> std::same_as<int64_t>;
};

}  // namespace astra

#endif  // WORKLOAD_ATTENTION_ATTENTION_H_
