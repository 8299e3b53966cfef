#include "workload/models/model_file.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
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
constexpr std::array<std::string_view, 2> kAttentionKinds = {"full", "latent"};

// Fills fields from a mapping.
class Reader {
 public:
  explicit Reader(YamlFields& fields) : fields_(fields) {}

  void Size(std::string_view key, int64_t& value) {
    value = fields_.Integer(key);
  }
  void SizeOrZero(std::string_view key, int64_t& value) {
    value = fields_.IntegerOr(key, 0);
  }
  void Flag(std::string_view key, bool& value) {
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
class Writer {
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
  void Flag(std::string_view key, bool value) {
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

template <class Visitor>
void Visit(Visitor& visitor, FullAttention& full) {
  visitor.Size("heads", full.heads);
  visitor.Size("kv_heads", full.kv_heads);
  visitor.Size("head_dim", full.head_dim);
  visitor.Flag("qkv_bias", full.qkv_bias);
  visitor.Flag("output_bias", full.output_bias);
  visitor.Flag("qk_norm", full.qk_norm);
  visitor.Flag("output_gate", full.output_gate);
  visitor.Flag("sinks", full.sinks);
  visitor.SizeOrZero("window", full.window);
  visitor.SizeOrZero("window_every", full.window_every);
}

template <class Visitor>
void Visit(Visitor& visitor, LatentAttention& latent) {
  visitor.Size("heads", latent.heads);
  visitor.SizeOrZero("q_lora_rank", latent.q_lora_rank);
  visitor.Size("kv_lora_rank", latent.kv_lora_rank);
  visitor.Size("nope_head_dim", latent.nope_head_dim);
  visitor.Size("rope_head_dim", latent.rope_head_dim);
  visitor.Size("v_head_dim", latent.v_head_dim);
}

template <class Visitor>
void Visit(Visitor& visitor, LinearAttention& linear) {
  visitor.Size("key_heads", linear.key_heads);
  visitor.Size("value_heads", linear.value_heads);
  visitor.Size("key_head_dim", linear.key_head_dim);
  visitor.Size("value_head_dim", linear.value_head_dim);
  visitor.Size("conv_kernel", linear.conv_kernel);
  visitor.Size("full_attention_every", linear.full_attention_every);
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
}

// Visits the sizes and choices of the whole model.
template <class Visitor>
void Visit(Visitor& visitor, ModelSpec& model) {
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
Part ReadPart(YamlFields& fields) {
  Part part;
  Reader reader(fields);
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
  YamlFields fields = root.Map("attention", "the attention");
  if (fields.Choice("kind", kAttentionKinds) == 0) {
    model.full_attention = ReadPart<FullAttention>(fields);
  } else {
    model.latent_attention = ReadPart<LatentAttention>(fields);
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
  kind.Choice("kind", kAttentionKinds, model.full_attention ? 0 : 1);
  if (model.full_attention) {
    WritePart(root, "attention", *model.full_attention, kind);
  } else {
    WritePart(root, "attention", *model.latent_attention, kind);
  }
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
  Reader reader(root);
  Visit(reader, model);
  ReadAttention(root, model);
  model.linear_attention = ReadPartIfThere<LinearAttention>(
      root, "linear_attention", "the linear attention");
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
  if (model.linear_attention) {
    WritePart(root, "linear_attention", *model.linear_attention);
  }
  WritePart(root, "feed_forward", model.feed_forward);
  if (model.experts) WritePart(root, "experts", *model.experts);
  return fmt::format("{}\n", fmt::join(root.fields(), "\n"));
}

}  // namespace astra
