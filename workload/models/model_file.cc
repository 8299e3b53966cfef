#include "workload/models/model_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "astra-core/base/yaml_text.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

// Names in the order of the enumerations.
constexpr std::array<std::string_view, 3> kPositions = {"rotary", "learned",
                                                        "alibi"};
constexpr std::array<std::string_view, 2> kNorms = {"rms", "layer"};

// Reads fields from a YAML mapping.
class ModelReader : public FieldVisitor {
 public:
  explicit ModelReader(YamlFields& fields) : fields_(fields) {}

  void Size(std::string_view key, int64_t& value) {
    value = fields_.Integer(key);
  }
  void SizeOrZero(std::string_view key, int64_t& value) {
    value = fields_.IntegerOr(key, 0);
  }
  void SizeOrOne(std::string_view key, int64_t& value) {
    value = fields_.IntegerOr(key, 1);
  }
  void Size(std::string_view key, int64_t& value, Limits /*limits*/) override {
    Size(key, value);
  }
  void SizeOrZero(std::string_view key, int64_t& value,
                  int64_t /*max*/) override {
    SizeOrZero(key, value);
  }
  void Flag(std::string_view key, bool& value) override {
    value = fields_.BoolOr(key, false);
  }
  template <class Enum>
  void Choice(std::string_view key, absl::Span<const std::string_view> names,
              Enum& value) {
    value = static_cast<Enum>(fields_.ChoiceOr(key, 0, names));
  }

 private:
  YamlFields& fields_;
};

// Writes fields as "key: value", without those at their defaults.
class Writer : public FieldVisitor {
 public:
  void Text(std::string_view key, std::string_view text) {
    fields_.push_back(fmt::format("{}: {}", key, text));
  }
  void Size(std::string_view key, int64_t value) {
    fields_.push_back(fmt::format("{}: {}", key, value));
  }
  void SizeOrZero(std::string_view key, int64_t value) {
    if (value != 0) Size(key, value);
  }
  void SizeOrOne(std::string_view key, int64_t value) {
    if (value != 1) Size(key, value);
  }
  void Size(std::string_view key, int64_t& value, Limits /*limits*/) override {
    Size(key, value);
  }
  void SizeOrZero(std::string_view key, int64_t& value,
                  int64_t /*max*/) override {
    SizeOrZero(key, value);
  }
  void Flag(std::string_view key, bool& value) override {
    if (value) Text(key, "true");
  }
  template <class Enum>
  void Choice(std::string_view key, absl::Span<const std::string_view> names,
              Enum value) {
    Text(key, names[static_cast<size_t>(value)]);
  }

  const std::vector<std::string>& fields() const { return fields_; }

 private:
  std::vector<std::string> fields_;
};

// The Visit functions name the fields of each part, for reading and for
// writing.

void Visit(FieldVisitor& visitor, AnyAttention& attention) {
  std::visit([&](auto& kind) { kind.Visit(visitor); }, attention);
}

std::string_view NameOf(const AnyAttention& attention) {
  return std::visit([](const auto& kind) { return kind.kName; }, attention);
}

template <class Visitor>
void Visit(Visitor& visitor, FeedForward& feed_forward) {
  visitor.SizeOrZero("ffn", feed_forward.ffn);
  visitor.Flag("gated", feed_forward.gated);
  visitor.Flag("bias", feed_forward.bias);
}

template <class Visitor>
void Visit(Visitor& visitor, Experts& experts) {
  visitor.Size("experts", experts.experts);
  visitor.Size("top_k", experts.top_k);
  visitor.Size("ffn", experts.ffn);
  visitor.SizeOrZero("shared_ffn", experts.shared_ffn);
  visitor.Flag("shared_gate", experts.shared_gate);
  visitor.Flag("router_bias", experts.router_bias);
  visitor.Flag("expert_bias", experts.expert_bias);
  visitor.SizeOrZero("dense_layers", experts.dense_layers);
  visitor.SizeOrOne("groups", experts.groups);
  visitor.SizeOrOne("top_groups", experts.top_groups);
}

// Visits the sizes and choices of the whole model.
template <class Visitor>
void Visit(Visitor& visitor, ModelShape& model) {
  visitor.Size("layers", model.layers);
  visitor.Size("hidden", model.hidden);
  visitor.Size("vocabulary", model.vocabulary);
  visitor.Choice("positions", kPositions, model.positions);
  visitor.SizeOrZero("max_positions", model.max_positions);
  visitor.Flag("tied_embeddings", model.tied_embeddings);
  visitor.Choice("norm", kNorms, model.norm);
  visitor.Flag("norm_bias", model.norm_bias);
  visitor.Flag("dropout", model.dropout);
}

template <class Part>
Part ReadPart(YamlFields& fields, Part part = {}) {
  ModelReader reader(fields);
  Visit(reader, part);
  fields.Close();
  return part;
}

template <class Part>
std::optional<Part> ReadPartIfThere(YamlFields& root, std::string_view key,
                                    std::string_view what) {
  YamlFields fields = root.Map(key, what);
  if (!root.has(key)) return std::nullopt;
  return ReadPart<Part>(fields);
}

void ReadAttention(YamlFields& root, ModelSpec& model) {
  if (!root.has("attention")) {
    root.Error("attention", "the model has no \"attention\"");
  }
  const std::vector<AnyAttention> kinds = AttentionKinds(/*beside=*/false);
  std::vector<std::string_view> names(kinds.size());
  std::transform(kinds.begin(), kinds.end(), names.begin(), NameOf);
  YamlFields fields = root.Map("attention", "the attention");
  model.attention = ReadPart(fields, kinds[fields.Choice("kind", names)]);
}

void ReadOtherAttention(YamlFields& root, ModelSpec& model) {
  for (const AnyAttention& kind : AttentionKinds(/*beside=*/true)) {
    const std::string section = SectionOf(kind);
    YamlFields fields =
        root.Map(section, fmt::format("the {} attention", NameOf(kind)));
    if (!root.has(section)) continue;
    if (model.other_attention) {
      root.Error(section, "expected one attention beside that of the model");
    }
    model.other_attention = ReadPart(fields, kind);
  }
}

void ReadPublishedCount(YamlFields& root, ModelSpec& model) {
  const std::string reason = root.TextOr("no_published_count", "");
  const int64_t count = root.IntegerOr("published_parameters", 0, 1);
  if (!root.has("published_parameters")) return;
  model.published_parameters = count;
  if (!root.has("no_published_count")) return;
  root.Error("no_published_count",
             "expected no reason beside published_parameters");
}

// Reports an error of CheckModel at its field. The message begins with the
// field, as "PART.FIELD" or "FIELD".
void ReportWhereItStands(YamlFields& root, std::string_view message) {
  const std::string_view field = message.substr(0, message.find(' '));
  const size_t dot = field.find('.');
  const std::string_view part = field.substr(0, dot);
  if (dot == std::string_view::npos || !root.has(part)) {
    root.Error(part, message);
  } else {
    root.Map(part, part).Error(field.substr(dot + 1), message);
  }
}

template <class Part>
void WritePart(Writer& root, std::string_view key, Part part,
               Writer writer = {}) {
  Visit(writer, part);
  root.Text(key, fmt::format("{{{}}}", fmt::join(writer.fields(), ", ")));
}

void WriteAttention(Writer& root, const ModelSpec& model) {
  Writer kind;
  kind.Text("kind", NameOf(model.attention));
  WritePart(root, "attention", model.attention, kind);
  if (!model.other_attention) return;
  WritePart(root, SectionOf(*model.other_attention), *model.other_attention);
}

}  // namespace

absl::StatusOr<ModelSpec> ParseModel(std::string_view file,
                                     std::string_view contents) {
  YamlDocument document(file, contents);
  YamlFields root = document.Root("the model");
  ModelSpec model;
  model.name = root.Text("name");
  model.aliases = root.Texts("aliases");
  model.sources = root.Texts("source");
  ReadPublishedCount(root, model);
  ModelReader reader(root);
  Visit(reader, model);
  ReadAttention(root, model);
  ReadOtherAttention(root, model);
  model.feed_forward =
      ReadPartIfThere<FeedForward>(root, "feed_forward", "the feed forward")
          .value_or(FeedForward());
  model.experts =
      ReadPartIfThere<Experts>(root, "experts", "the mixture of experts");
  root.Close();
  ASTRA_RETURN_IF_ERROR(document.status());

  if (const absl::Status status = CheckModel(model); !status.ok()) {
    ReportWhereItStands(root, std::string(status.message()));
  }
  ASTRA_RETURN_IF_ERROR(document.status());
  return model;
}

std::string FormatModel(const ModelSpec& model) {
  Writer root;
  root.Text("name", YamlQuoted(model.name));
  if (!model.aliases.empty()) root.Text("aliases", YamlList(model.aliases));
  if (!model.sources.empty()) root.Text("source", YamlList(model.sources));
  if (model.published_parameters) {
    root.Size("published_parameters", *model.published_parameters);
  }
  ModelSpec copy = model;
  Visit(root, copy);
  WriteAttention(root, model);
  WritePart(root, "feed_forward", model.feed_forward);
  if (model.experts) WritePart(root, "experts", *model.experts);
  return fmt::format("{}\n", fmt::join(root.fields(), "\n"));
}

}  // namespace astra
