#include "astra-core/planner/internevo/evo_config.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kMostHidden = int64_t{1} << 17;
constexpr int64_t kMostLayers = 10'000;
constexpr int64_t kMostVocabulary = int64_t{1} << 27;
constexpr int64_t kMostMicroBatches = int64_t{1} << 24;
constexpr double kMostRatio = 1e9;
constexpr int64_t kMostFfn = int64_t{1} << 24;

// A mapping of the file, with the keys that were read of it.
class Section {
 public:
  // `keys` are those that are read; all others change no time.
  Section(YamlFields fields, std::string_view name,
          std::vector<std::string_view> keys)
      : fields_(std::move(fields)), name_(name), keys_(std::move(keys)) {}

  YamlFields& fields() { return fields_; }

  // Read a required key. The error of a missing one names the key of the file
  // that may stand for it.
  int64_t Required(std::string_view key, int64_t most) {
    return Has(key) ? fields_.Integer(key, 1, most) : 1;
  }
  double RequiredRatio(std::string_view key) {
    return Has(key) ? fields_.Number(key, 0, kMostRatio) : 1;
  }

  // Warns of the keys that nobody read, in one line.
  void WarnOfOthers(std::string_view file, Warnings* warnings) {
    std::string others;
    for (const std::string& key : Others()) {
      others += fmt::format("{}{}", others.empty() ? "" : ", ", Printable(key));
    }
    if (others.empty()) return;
    warnings->push_back(fmt::format("{}: {} has keys that change no time: {}",
                                    file, name_, others));
  }

 private:
  std::vector<std::string> Others() const {
    std::vector<std::string> others;
    for (const std::string& key : fields_.keys()) {
      if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) {
        others.push_back(key);
      }
    }
    return others;
  }

  bool Has(std::string_view key) {
    if (fields_.has(key)) return true;
    const std::vector<std::string> others = Others();
    const std::vector<std::string_view> names(others.begin(), others.end());
    const std::string_view nearest = NearestName(key, names);
    fields_.Error(nearest.empty() ? key : nearest,
                  nearest.empty()
                      ? fmt::format("{} has no \"{}\"", name_, key)
                      : fmt::format("{} has no \"{}\"; is {} meant?", name_,
                                    key, Quoted(nearest)));
    return false;
  }

  YamlFields fields_;
  std::string_view name_;
  std::vector<std::string_view> keys_;
};

class Reader {
 public:
  Reader(std::string_view file, std::string_view contents, Warnings* warnings)
      : file_(file), warnings_(warnings), document_(file, contents) {}

  absl::StatusOr<EvoConfig> Read() {
    YamlFields root = document_.Root("an InternEvo config");
    Section top(root, "the config", {"data", "model", "parallel"});
    ReadData(root);
    ReadModel(root);
    ReadParallel(root);
    top.WarnOfOthers(file_, warnings_);
    ASTRA_RETURN_IF_ERROR(document_.status());
    return config_;
  }

 private:
  // Returns `key` of `parent`, which must be a mapping if it is there.
  Section Open(YamlFields& parent, std::string_view key,
               std::vector<std::string_view> keys) {
    return {parent.Map(key, key), key, std::move(keys)};
  }

  void ReadData(YamlFields& root) {
    if (!root.has("data")) root.Error("data", "the config has no \"data\"");
    Section data = Open(root, "data", {"seq_len", "micro_bsz", "micro_num"});
    config_.seq_len = data.Required("seq_len", kMostEvoTokens);
    config_.layout.micro_bsz = data.Required("micro_bsz", kMostEvoTokens);
    config_.layout.micro_num =
        data.fields().IntegerOr("micro_num", 1, 1, kMostMicroBatches);
    if (config_.layout.micro_bsz > kMostEvoTokens / config_.seq_len) {
      data.fields().Error(
          "micro_bsz",
          fmt::format("micro_bsz {} x seq_len {}: expected at most {} tokens",
                      config_.layout.micro_bsz, config_.seq_len,
                      kMostEvoTokens));
    }
    data.WarnOfOthers(file_, warnings_);
  }

  // Reports `key` of `fields` if it has another value than `only`.
  static void RefuseOther(YamlFields& fields, std::string_view key,
                          std::string_view only, std::string_view why) {
    const YamlValue* value = fields.Value(key);
    if (value == nullptr) return;
    if (value->text == only) return;
    fields.Error(key, fmt::format("{} is {}: {}; expected {}", key,
                                  Quoted(value->text), why, only));
  }

  // Returns the share of blocks that are recomputed.
  static double ReadCheckpoint(YamlFields& model) {
    const YamlValue* value = model.Value("checkpoint");
    if (value == nullptr || value->text == "false") return 0;
    if (value->text == "true") return 1;
    const absl::StatusOr<double> share =
        ParseNumber("checkpoint", value->text, 0, 1);
    if (share.ok()) return *share;
    model.Error("checkpoint",
                fmt::format("checkpoint is {}: expected true, false, or a "
                            "share from 0 to 1",
                            Quoted(value->text)));
    return 0;
  }

  void ReadModel(YamlFields& root) {
    if (!root.has("model")) return;
    Section section = Open(
        root, "model",
        {"hidden_size", "num_layers", "num_attention_heads",
         "num_kv_attention_heads", "mlp_ratio", "vocab_size", "multiple_of",
         "use_flash_attn", "checkpoint", "num_experts", "num_chunks"});
    EvoModel& model = config_.model.emplace();
    YamlFields& fields = section.fields();
    model.hidden = section.Required("hidden_size", kMostHidden);
    model.layers = section.Required("num_layers", kMostLayers);
    model.heads = section.Required("num_attention_heads", kMostHidden);
    model.kv_heads =
        fields.IntegerOr("num_kv_attention_heads", model.heads, 1, kMostHidden);
    model.vocabulary = section.Required("vocab_size", kMostVocabulary);
    constexpr int64_t kMultipleOf = 256;
    model.ffn =
        EvoFfn(model.hidden, section.RequiredRatio("mlp_ratio"),
               fields.IntegerOr("multiple_of", kMultipleOf, 1, kMostHidden));
    model.flash_attention = fields.BoolOr("use_flash_attn", true);
    config_.layout.checkpoint = ReadCheckpoint(fields);
    RefuseOther(fields, "num_experts", "1", "experts are not priced");
    RefuseOther(fields, "num_chunks", "1",
                "stages of several chunks are not priced");
    CheckHeads(fields, model);
    section.WarnOfOthers(file_, warnings_);
  }

  static void CheckHeads(YamlFields& fields, const EvoModel& model) {
    if (model.hidden % model.heads != 0) {
      fields.Error("num_attention_heads",
                   fmt::format("num_attention_heads {} does not divide "
                               "hidden_size {}",
                               model.heads, model.hidden));
    }
    if (model.heads % model.kv_heads != 0) {
      fields.Error("num_kv_attention_heads",
                   fmt::format("num_kv_attention_heads {} does not divide "
                               "num_attention_heads {}",
                               model.kv_heads, model.heads));
    }
    if (model.ffn < 1 || model.ffn > kMostFfn) {
      fields.Error("mlp_ratio",
                   fmt::format("mlp_ratio makes a width of {}: expected 1 to "
                               "{}",
                               model.ffn, kMostFfn));
    }
  }

  // Reads one part of `parallel`: a mapping with a size, or a size. Returns
  // `otherwise` if it is absent.
  int64_t ReadPart(YamlFields& parallel, std::string_view key,
                   std::vector<std::string_view> keys, int64_t least,
                   int64_t otherwise) {
    const YamlValue* value = parallel.Value(key);
    if (value == nullptr) return otherwise;
    if (value->kind == YamlValue::Kind::kScalar) {
      return parallel.Integer(key, least, kMostEvoRanks);
    }
    keys.emplace_back("size");
    Section part = Open(parallel, key, std::move(keys));
    part.WarnOfOthers(file_, warnings_);
    return part.fields().IntegerOr("size", otherwise, least, kMostEvoRanks);
  }

  void ReadParallel(YamlFields& root) {
    Section parallel =
        Open(root, "parallel", {"zero1", "tensor", "pipeline", "weight"});
    YamlFields& fields = parallel.fields();
    EvoLayout& layout = config_.layout;
    layout.zero = ReadPart(fields, "zero1", {"fsdp"}, -kMostEvoRanks, -1);
    layout.sequence = ReadPart(fields, "tensor", {"mode"}, 1, 1);
    layout.pipeline = ReadPart(fields, "pipeline", {}, 1, 1);
    layout.weight = ReadPart(fields, "weight", {}, 1, 1);
    if (const YamlValue* zero = fields.Value("zero1");
        zero != nullptr && zero->kind == YamlValue::Kind::kMap) {
      YamlFields zero_fields = document_.Fields(*zero, "zero1");
      RefuseOther(zero_fields, "fsdp", "false", "FSDP is not priced");
    }
    ReadMode(fields);
    parallel.WarnOfOthers(file_, warnings_);
  }

  void ReadMode(YamlFields& parallel) {
    constexpr std::string_view kNames[] = {"msp", "fsp", "isp", "mtp"};
    constexpr size_t kMtp = 3;
    size_t mode = kMtp;
    const YamlValue* tensor = parallel.Value("tensor");
    YamlFields* place = &parallel;
    std::optional<YamlFields> fields;
    if (tensor != nullptr && tensor->kind == YamlValue::Kind::kMap) {
      place = &fields.emplace(document_.Fields(*tensor, "tensor"));
      mode = place->ChoiceOr("mode", kMtp, kNames);
    }
    EvoLayout& layout = config_.layout;
    if (mode == kMtp && layout.sequence > 1) {
      place->Error(fields && fields->has("mode") ? "mode" : "tensor",
                   "mode mtp splits no sequences, and InternEvo's simulator "
                   "has no times for it; expected msp, fsp or isp");
    }
    // With one rank nothing is split, and mtp is the same as msp.
    layout.mode = mode == kMtp ? EvoMode::kMsp : kEvoModes[mode];
    if (layout.mode != EvoMode::kIsp && layout.weight > 1) {
      parallel.Error("weight",
                     fmt::format("weight parallelism of {} needs tensor mode "
                                 "isp, not {}",
                                 layout.weight, kNames[mode]));
    }
  }

  std::string_view file_;
  Warnings* warnings_;
  YamlDocument document_;
  EvoConfig config_;
};

absl::Status Indivisible(std::string_view what, int64_t number,
                         std::string_view of, int64_t whole) {
  return absl::InvalidArgumentError(
      fmt::format("{} {} does not divide {} {}", what, number, of, whole));
}

}  // namespace

absl::StatusOr<EvoConfig> ReadEvoConfig(std::string_view file,
                                        std::string_view contents,
                                        Warnings* warnings) {
  return Reader(file, contents, warnings).Read();
}

std::string FormatEvoConfig(const EvoModel& model, int64_t seq_len,
                            const EvoLayout& layout) {
  std::string text =
      fmt::format("data: {{seq_len: {}, micro_bsz: {}, micro_num: {}}}\n",
                  seq_len, layout.micro_bsz, layout.micro_num);
  // The ratio is that of the rounded width, which multiple_of 1 leaves as it
  // is.
  AppendFormat(&text,
               "model:\n  hidden_size: {}\n  num_layers: {}\n"
               "  num_attention_heads: {}\n  num_kv_attention_heads: {}\n"
               "  vocab_size: {}\n  mlp_ratio: {:.17g}\n  multiple_of: 1\n"
               "  use_flash_attn: {}\n  checkpoint: {}\n",
               model.hidden, model.layers, model.heads, model.kv_heads,
               model.vocabulary,
               (static_cast<double>(model.ffn) + 0.5) /
                   static_cast<double>(model.hidden),
               model.flash_attention, layout.checkpoint);
  AppendFormat(&text,
               "parallel:\n  zero1: {{size: {}}}\n"
               "  tensor: {{size: {}, mode: {}}}\n  pipeline: {{size: {}}}\n"
               "  weight: {{size: {}}}\n",
               layout.zero, layout.sequence, Name(layout.mode), layout.pipeline,
               layout.weight);
  return text;
}

absl::Status CheckEvoLayout(const EvoModel& model, int64_t seq_len,
                            int64_t world, const EvoLayout& layout) {
  const int64_t sequence = layout.sequence;
  if (layout.pipeline > model.layers) {
    return absl::InvalidArgumentError(
        fmt::format("pipeline size {} is more than the {} layers",
                    layout.pipeline, model.layers));
  }
  if (world % layout.pipeline != 0) {
    return Indivisible("pipeline size", layout.pipeline, "the world size",
                       world);
  }
  const int64_t stage = world / layout.pipeline;
  if (stage % sequence != 0) {
    return Indivisible("tensor size", sequence, "the ranks of a stage,", stage);
  }
  if (model.kv_heads % sequence != 0) {
    return Indivisible("tensor size", sequence, "num_kv_attention_heads",
                       model.kv_heads);
  }
  if (model.hidden % sequence != 0) {
    return Indivisible("tensor size", sequence, "hidden_size", model.hidden);
  }
  if (seq_len % sequence != 0) {
    return Indivisible("tensor size", sequence, "seq_len", seq_len);
  }
  if (stage % layout.weight != 0) {
    return Indivisible("weight size", layout.weight, "the ranks of a stage,",
                       stage);
  }
  const int64_t replicas = WeightReplicas(layout, world);
  if (replicas % layout.zero != 0) {
    return Indivisible("zero1 size", layout.zero, "the replicas,", replicas);
  }
  return absl::OkStatus();
}

}  // namespace astra
