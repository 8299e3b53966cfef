#include "workload/models/hugging_face_config.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Keys that change neither the weights nor the FLOPs: tokens, initial values,
// settings of training, routing and rotary positions, number formats.
constexpr std::string_view kWithoutEffect[] = {
    "_attn_implementation",
    "_name_or_path",
    "architectures",
    "attention_dropout",
    "auto_map",
    "aux_loss_alpha",
    "bos_token_id",
    "dtype",
    "eos_token_id",
    "ep_size",
    "experts_per_token",  // GPT-OSS repeats num_experts_per_tok here.
    "hidden_act",
    "initial_context_length",
    "initializer_range",
    "layer_types",  // Compared with the model in CompareLayerTypes.
    "max_window_layers",
    "model_type",
    "n_group",
    "norm_topk_prob",
    "output_router_logits",
    "pad_token_id",
    "partial_rotary_factor",
    "pretraining_tp",
    "quantization_config",
    "rms_norm_eps",
    "rope_interleave",
    "rope_parameters",
    "rope_scaling",
    "rope_theta",
    "routed_scaling_factor",
    "router_aux_loss_coef",
    "router_jitter_noise",
    "scoring_func",
    "seq_aux",
    "swiglu_limit",
    "topk_group",
    "topk_method",
    "torch_dtype",
    "transformers_version",
    "use_cache",
};

// Keys in AICB's files that do not describe the model and repeat its command
// line.
constexpr std::string_view kOfCommandLine[] = {
    "aiob_enable",
    "expert_model_parallel_size",
    "frame",
    "micro_batch",
    "model_name",
    "moe_enable",
    "pipeline_model_parallel",
    "result_dir",
    "seq_length",
    "tensor_model_parallel_size",
    "world_size",
};

// The fields of a file; null counts as absent. The YAML reader also reads JSON,
// and knows the place of each value.
class Config {
 public:
  Config(std::string_view file, std::string_view contents)
      : file_(file),
        document_(file, contents),
        fields_(document_.Root("the configuration")),
        asked_(std::begin(kWithoutEffect), std::end(kWithoutEffect)) {}

  YamlFields& fields() { return fields_; }
  const absl::Status& status() const { return document_.status(); }

  bool Has(std::string_view key) {
    asked_.insert(key);
    const YamlValue* value = fields_.Value(key);
    return value != nullptr && value->kind != YamlValue::Kind::kNull;
  }
  int64_t Integer(std::string_view key) {
    asked_.insert(key);
    return fields_.Integer(key);
  }
  int64_t IntegerOr(std::string_view key, int64_t otherwise) {
    return Has(key) ? fields_.Integer(key) : otherwise;
  }
  bool FlagOr(std::string_view key, bool otherwise) {
    return Has(key) ? fields_.Bool(key) : otherwise;
  }
  std::vector<std::string> Texts(std::string_view key) {
    return Has(key) ? fields_.Texts(key) : std::vector<std::string>();
  }

  // Refuses a value other than `text`, because a ModelSpec cannot describe it.
  void ExpectAbsentOr(std::string_view key, std::string_view text) {
    if (!Has(key) || fields_.Text(key) == text) return;
    fields_.Error(key, fmt::format("{} is {}: only {} can be described", key,
                                   Quoted(fields_.Text(key)), text));
  }

  void Warn(std::string_view key, std::string_view message,
            Warnings* warnings) {
    const YamlValue& value = *fields_.Value(key);
    warnings->push_back(
        fmt::format("{}:{}:{}: {}", file_, value.line, value.column, message));
  }

  void WarnOfOthers(Warnings* warnings) {
    std::string others;
    for (const std::string& key : fields_.keys()) {
      if (asked_.count(key) > 0) continue;
      if (std::find(std::begin(kOfCommandLine), std::end(kOfCommandLine),
                    key) != std::end(kOfCommandLine)) {
        others += (others.empty() ? "" : ", ") + key;
        continue;
      }
      Warn(key, fmt::format("{} is not understood and left out", Quoted(key)),
           warnings);
    }
    if (others.empty()) return;
    warnings->push_back(fmt::format(
        "{}: {} of the file have no effect: they are options of the command "
        "line",
        file_, others));
  }

 private:
  std::string_view file_;
  YamlDocument document_;
  YamlFields fields_;
  std::set<std::string_view> asked_;
};

void ReadCommon(Config& config, ModelSpec& model) {
  model.layers = config.Integer("num_hidden_layers");
  model.hidden = config.Integer("hidden_size");
  model.vocabulary = config.Integer("vocab_size");
  model.max_positions = config.IntegerOr("max_position_embeddings", 0);
  model.tied_embeddings = config.FlagOr("tie_word_embeddings", false);
  model.feed_forward.gated = true;
}

constexpr std::string_view kHeads = "num_attention_heads";
constexpr std::string_view kKvHeads = "num_key_value_heads";

// Reads the heads of attention. Together they are as wide as the hidden state,
// unless head_dim is given. `kv_key` gives the number of key-value heads.
FullAttention ReadHeads(Config& config, const ModelSpec& model,
                        std::string_view kv_key = kKvHeads) {
  FullAttention attention;
  attention.heads = config.Integer(kHeads);
  attention.kv_heads = config.Integer(kv_key);
  if (config.Has("head_dim") || attention.heads == 0) {
    attention.head_dim = config.Integer("head_dim");
  } else {
    attention.head_dim = model.hidden / attention.heads;
    if (model.hidden % attention.heads != 0) {
      config.fields().Error("hidden_size",
                            "without head_dim, hidden_size must be a multiple "
                            "of num_attention_heads");
    }
  }
  return attention;
}

void ReadAttentionBias(Config& config, bool otherwise,
                       FullAttention& attention) {
  attention.qkv_bias = config.FlagOr("attention_bias", otherwise);
  attention.output_bias = attention.qkv_bias;
}

// Reads the window of each `every`-th block; null means none. The key is
// required, because the meaning of an absent key differs between model types.
void ReadWindow(Config& config, int64_t every, FullAttention& attention) {
  constexpr std::string_view kKey = "sliding_window";
  const bool is_null = config.fields().has(kKey) && !config.Has(kKey);
  attention.window = is_null ? 0 : config.Integer(kKey);
  attention.window_every = attention.window > 0 ? every : 0;
}

// The first Llama models lack grouped queries, and their files lack the key.
void ReadLlama(Config& config, ModelSpec& model) {
  FullAttention attention =
      ReadHeads(config, model, config.Has(kKvHeads) ? kKvHeads : kHeads);
  ReadAttentionBias(config, false, attention);
  model.full_attention = attention;
  model.feed_forward.ffn = config.Integer("intermediate_size");
  model.feed_forward.bias = config.FlagOr("mlp_bias", false);
}

void ReadMistral(Config& config, ModelSpec& model) {
  FullAttention attention = ReadHeads(config, model);
  ReadWindow(config, 1, attention);
  model.full_attention = attention;
  model.feed_forward.ffn = config.Integer("intermediate_size");
}

void ReadMixtral(Config& config, ModelSpec& model) {
  FullAttention attention = ReadHeads(config, model);
  ReadWindow(config, 1, attention);
  model.full_attention = attention;
  Experts experts;
  experts.experts = config.Integer("num_local_experts");
  experts.top_k = config.Integer("num_experts_per_tok");
  experts.ffn = config.Integer("intermediate_size");
  model.experts = experts;
}

// Refuses windows. Qwen allows them from a certain block on, but no published
// model has them.
void RefuseWindow(Config& config) {
  config.ExpectAbsentOr("use_sliding_window", "false");
  config.Has("sliding_window");  // Has no effect.
}

void ReadQwen2(Config& config, ModelSpec& model) {
  FullAttention attention = ReadHeads(config, model);
  attention.qkv_bias = true;
  RefuseWindow(config);
  model.full_attention = attention;
  model.feed_forward.ffn = config.Integer("intermediate_size");
}

FullAttention ReadQwen3Attention(Config& config) {
  FullAttention attention;
  attention.heads = config.Integer(kHeads);
  attention.kv_heads = config.Integer(kKvHeads);
  attention.head_dim = config.Integer("head_dim");
  attention.qk_norm = true;
  ReadAttentionBias(config, false, attention);
  RefuseWindow(config);
  return attention;
}

void ReadQwen3(Config& config, ModelSpec& model) {
  model.full_attention = ReadQwen3Attention(config);
  model.feed_forward.ffn = config.Integer("intermediate_size");
}

void ReadQwen3Experts(Config& config, ModelSpec& model) {
  Experts experts;
  experts.experts = config.Integer("num_experts");
  experts.top_k = config.Integer("num_experts_per_tok");
  experts.ffn = config.Integer("moe_intermediate_size");
  config.ExpectAbsentOr("decoder_sparse_step", "1");
  for (const std::string& layer : config.Texts("mlp_only_layers")) {
    if (layer == fmt::format("{}", experts.dense_layers)) {
      ++experts.dense_layers;
      continue;
    }
    config.fields().Error(
        "mlp_only_layers",
        fmt::format("mlp_only_layers holds {}: only the first layers, in "
                    "order, can be described",
                    Quoted(layer)));
  }
  const int64_t ffn = config.IntegerOr("intermediate_size", 0);
  model.feed_forward.ffn = experts.dense_layers > 0 ? ffn : 0;
  model.experts = experts;
}

void ReadQwen3Moe(Config& config, ModelSpec& model) {
  model.full_attention = ReadQwen3Attention(config);
  ReadQwen3Experts(config, model);
}

void ReadQwen3Next(Config& config, ModelSpec& model) {
  ReadQwen3Moe(config, model);
  model.full_attention->output_gate = true;
  model.experts->shared_ffn = config.Integer("shared_expert_intermediate_size");
  model.experts->shared_gate = model.experts->shared_ffn > 0;
  LinearAttention linear;
  linear.key_heads = config.Integer("linear_num_key_heads");
  linear.value_heads = config.Integer("linear_num_value_heads");
  linear.key_head_dim = config.Integer("linear_key_head_dim");
  linear.value_head_dim = config.Integer("linear_value_head_dim");
  linear.conv_kernel = config.Integer("linear_conv_kernel_dim");
  linear.full_attention_every = config.IntegerOr("full_attention_interval", 4);
  model.linear_attention = linear;
}

// Reads a key under either of two names; the first is the name in DeepSeek's
// files.
int64_t ReadEither(Config& config, std::string_view key,
                   std::string_view other) {
  return config.Integer(config.Has(other) && !config.Has(key) ? other : key);
}

void ReadDeepSeekV2(Config& config, ModelSpec& model) {
  LatentAttention attention;
  attention.heads = config.Integer(kHeads);
  attention.q_lora_rank = config.IntegerOr("q_lora_rank", 0);
  attention.kv_lora_rank = config.Integer("kv_lora_rank");
  attention.nope_head_dim = config.Integer("qk_nope_head_dim");
  attention.rope_head_dim = config.Integer("qk_rope_head_dim");
  attention.v_head_dim = config.Integer("v_head_dim");
  model.latent_attention = attention;
  config.ExpectAbsentOr("attention_bias", "false");
  config.ExpectAbsentOr("mlp_bias", "false");
  for (const std::string_view key :
       {"num_key_value_heads", "head_dim", "qk_head_dim"}) {
    config.Has(key);  // Follows from the other keys.
  }

  Experts experts;
  experts.experts =
      ReadEither(config, "n_routed_experts", "num_routed_experts");
  experts.top_k = config.Integer("num_experts_per_tok");
  experts.ffn = config.Integer("moe_intermediate_size");
  const bool shares =
      config.Has("n_shared_experts") || config.Has("num_shared_experts");
  if (shares) {
    constexpr int64_t kMaxShared = 1000;  // Keeps the product in range.
    const int64_t shared =
        ReadEither(config, "n_shared_experts", "num_shared_experts");
    experts.shared_ffn =
        std::min(shared, kMaxShared) * std::min(experts.ffn, int64_t{1} << 32);
  }
  experts.dense_layers = config.Integer("first_k_dense_replace");
  config.ExpectAbsentOr("moe_layer_freq", "1");
  const int64_t ffn = config.Integer("intermediate_size");
  model.feed_forward.ffn = experts.dense_layers > 0 ? ffn : 0;
  model.experts = experts;
}

// Reads DeepSeek-V3, which corrects the routing score of each expert with a
// bias.
//
// Source: DeepSeek-V3, arXiv 2412.19437, section 2.1.2.
void ReadDeepSeekV3(Config& config, ModelSpec& model) {
  ReadDeepSeekV2(config, model);
  model.experts->router_bias = true;
}

void ReadGptOss(Config& config, ModelSpec& model) {
  FullAttention attention;
  attention.heads = config.Integer(kHeads);
  attention.kv_heads = config.Integer(kKvHeads);
  attention.head_dim = config.Integer("head_dim");
  attention.sinks = true;
  ReadAttentionBias(config, true, attention);
  ReadWindow(config, 2, attention);
  model.full_attention = attention;
  Experts experts;
  experts.experts = config.Integer("num_local_experts");
  experts.top_k = config.Integer("num_experts_per_tok");
  experts.ffn = config.Integer("intermediate_size");
  experts.router_bias = true;
  experts.expert_bias = true;
  model.experts = experts;
}

struct ModelType {
  std::string_view name;
  void (*read)(Config&, ModelSpec&);
};
constexpr ModelType kModelTypes[] = {
    {"llama", ReadLlama},
    {"mistral", ReadMistral},
    {"mixtral", ReadMixtral},
    {"qwen2", ReadQwen2},
    {"qwen3", ReadQwen3},
    {"qwen3_moe", ReadQwen3Moe},
    {"qwen3_next", ReadQwen3Next},
    {"deepseek_v2", ReadDeepSeekV2},
    {"deepseek_v3", ReadDeepSeekV3},
    {"gpt_oss", ReadGptOss},
};

std::string_view LayerType(const ModelSpec& model, int64_t layer) {
  if (model.HasLinearAttention(layer)) return "linear_attention";
  if (model.HasWindow(layer)) return "sliding_attention";
  return "full_attention";
}

// Checks that the list of layer types agrees with the other keys.
void CompareLayerTypes(Config& config, const ModelSpec& model) {
  if (!config.Has("layer_types")) return;
  const std::vector<std::string> types = config.Texts("layer_types");
  if (types.size() != static_cast<size_t>(model.layers)) {
    config.fields().Error("layer_types",
                          fmt::format("layer_types has {} items: expected {}",
                                      types.size(), model.layers));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string_view type = LayerType(model, static_cast<int64_t>(i));
    if (types[i] == type) continue;
    config.fields().Error(
        "layer_types",
        fmt::format("layer_types says {} of layer {}: only {} can be "
                    "described there",
                    Quoted(types[i]), i, Quoted(type)));
  }
}

}  // namespace

absl::StatusOr<ModelSpec> ParseHuggingFaceConfig(std::string_view file,
                                                 std::string_view contents,
                                                 Warnings* warnings) {
  Config config(file, contents);
  std::vector<std::string_view> names;
  for (const ModelType& type : kModelTypes) names.push_back(type.name);
  const ModelType& type =
      kModelTypes[config.fields().Choice("model_type", names)];
  ASTRA_RETURN_IF_ERROR(config.status());

  ModelSpec model;
  if (config.Has("_name_or_path")) {
    model.name = config.fields().Text("_name_or_path");
  }
  if (model.name.empty()) model.name = type.name;
  ReadCommon(config, model);
  type.read(config, model);
  const int64_t predicted = config.IntegerOr("num_nextn_predict_layers", 0);
  ASTRA_RETURN_IF_ERROR(config.status());
  if (const absl::Status status = CheckModel(model); !status.ok()) {
    config.fields().Error("", std::string(status.message()));
  }
  ASTRA_RETURN_IF_ERROR(config.status());
  CompareLayerTypes(config, model);
  ASTRA_RETURN_IF_ERROR(config.status());

  if (predicted > 0) {
    config.Warn("num_nextn_predict_layers",
                fmt::format("num_nextn_predict_layers is {}: layers that "
                            "predict further tokens are left out",
                            predicted),
                warnings);
  }
  config.WarnOfOthers(warnings);
  return model;
}

}  // namespace astra
