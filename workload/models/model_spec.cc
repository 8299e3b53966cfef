#include "workload/models/model_spec.h"

#include <string_view>
#include <utility>
#include <variant>

#include "absl/types/span.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/modules/size_rules.h"

namespace astra {
namespace {

// Limits beyond every trained model. They keep the number of parameters within
// an int64_t: 3 x layers x experts x hidden x ffn is below 2^61.
constexpr int64_t kMaxHidden = 1 << 17;
constexpr int64_t kMaxFfn = 1 << 20;
constexpr int64_t kMaxVocabulary = 1 << 24;
constexpr int64_t kMaxExperts = ExpertRouting::kMaxExperts;

struct Size {
  std::string_view field;
  int64_t value;
  int64_t min;
  int64_t max;
};

absl::Status CheckSizes(absl::Span<const Size> sizes) {
  for (const Size& size : sizes) {
    if (size.value >= size.min && size.value <= size.max) continue;
    return WrongSize(size.field, size.value,
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

// Finds the first size of an attention that is out of range.
class RangeChecker : public FieldVisitor {
 public:
  explicit RangeChecker(std::string section) : section_(std::move(section)) {}

  void Size(std::string_view key, int64_t& value, Limits limits) override {
    if (!status_.ok()) return;
    status_ = CheckSizes(
        {{fmt::format("{}.{}", section_, key), value, limits.min, limits.max}});
  }
  void SizeOrZero(std::string_view key, int64_t& value, int64_t max) override {
    Size(key, value, {.max = max, .min = 0});
  }
  void Flag(std::string_view /*key*/, bool& /*value*/) override {}

  const absl::Status& status() const { return status_; }

 private:
  std::string section_;
  absl::Status status_;
};

absl::Status CheckKind(AnyAttention attention) {
  RangeChecker ranges(SectionOf(attention));
  std::visit([&](auto& kind) { kind.Visit(ranges); }, attention);
  ASTRA_RETURN_IF_ERROR(ranges.status());
  return std::visit([](const auto& kind) { return kind.Check(); }, attention);
}

absl::Status CheckAttention(const ModelSpec& model) {
  ASTRA_RETURN_IF_ERROR(CheckKind(model.attention));
  if (!model.other_attention) return absl::OkStatus();
  const auto name_of = [](const auto& kind) { return kind.kName; };
  const auto beside_of = [](const auto& kind) { return kind.kBeside; };
  const std::string_view beside = std::visit(beside_of, *model.other_attention);
  if (std::visit(name_of, model.attention) != beside) {
    return absl::InvalidArgumentError(
        fmt::format("{} is there: expected it beside {} attention only",
                    SectionOf(*model.other_attention), beside));
  }
  return CheckKind(*model.other_attention);
}

absl::Status CheckExperts(const Experts& experts, int64_t layers) {
  ASTRA_RETURN_IF_ERROR(CheckSizes({
      {"experts.experts", experts.experts, 1, kMaxExperts},
      {"experts.top_k", experts.top_k, 1, kMaxExperts},
      {"experts.ffn", experts.ffn, 1, kMaxFfn},
      {"experts.shared_ffn", experts.shared_ffn, 0, kMaxFfn},
      {"experts.dense_layers", experts.dense_layers, 0, layers - 1},
  }));
  if (const auto mistake = FindMistake(RoutingOf(experts))) {
    return WrongSize(fmt::format("experts.{}", mistake->field), mistake->value,
                     mistake->rule);
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
  return WrongSize("feed_forward.ffn", ffn,
                   "expected 0, as every block has experts");
}

}  // namespace

const AnyAttention& ModelSpec::AttentionOf(int64_t layer) const {
  const bool has_other =
      other_attention &&
      std::visit([&](const auto& kind) { return kind.HasBlock(layer); },
                 *other_attention);
  return has_other ? *other_attention : attention;
}

absl::Status CheckModel(const ModelSpec& model) {
  ASTRA_RETURN_IF_ERROR(CheckTexts(model));
  ASTRA_RETURN_IF_ERROR(CheckSizes({
      {"layers", model.layers, 1, ModelShape::kMaxLayers},
      {"hidden", model.hidden, 1, kMaxHidden},
      {"vocabulary", model.vocabulary, 1, kMaxVocabulary},
      {"max_positions", model.max_positions,
       model.positions == Positions::kLearned ? 1 : 0,
       ModelShape::kMaxPositions},
  }));
  if (model.norm_bias && model.norm == Norm::kRms) {
    return absl::InvalidArgumentError(
        "norm_bias is true: an RMS norm has no bias");
  }
  ASTRA_RETURN_IF_ERROR(CheckAttention(model));
  return CheckFeedForward(model);
}

}  // namespace astra
