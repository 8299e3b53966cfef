#include "workload/models/hugging_face_config.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/attention/config_json.h"

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

// Warns of the keys that were not read.
void WarnOfOthers(std::string_view file, ConfigJson& config,
                  Warnings* warnings) {
  std::string others;
  for (const std::string& key : config.Others()) {
    if (std::find(std::begin(kOfCommandLine), std::end(kOfCommandLine), key) !=
        std::end(kOfCommandLine)) {
      others += (others.empty() ? "" : ", ") + key;
      continue;
    }
    warnings->push_back(config.At(
        key, fmt::format("{} is not understood and left out", Quoted(key))));
  }
  if (others.empty()) return;
  warnings->push_back(fmt::format(
      "{}: {} of the file have no effect: they are options of the command line",
      file, others));
}

void ReadCommon(ConfigJson& config, ModelSpec& model) {
  model.layers = config.Integer("num_hidden_layers");
  model.hidden = config.Integer("hidden_size");
  model.vocabulary = config.Integer("vocab_size");
  model.max_positions = config.IntegerOr("max_position_embeddings", 0);
  model.tied_embeddings = config.FlagOr("tie_word_embeddings", false);
  model.feed_forward.gated = true;
}

// Reads the attention, or with `beside` the other attention. Of several kinds
// in the file, the last of the registry counts; none if there is none.
std::optional<AnyAttention> ReadAttention(ConfigJson& config, bool beside,
                                          std::string_view model_type,
                                          const ModelShape& model) {
  std::optional<AnyAttention> attention;
  for (const AnyAttention& one : AttentionKinds(beside)) {
    const bool is_in = std::visit(
        [&](const auto& kind) { return kind.IsIn(config, model_type); }, one);
    if (is_in) attention = one;
  }
  if (!attention) return std::nullopt;
  std::visit([&](auto& kind) { kind.Read(config, model_type, model); },
             *attention);
  return attention;
}

void ReadDense(ConfigJson& config, ModelSpec& model) {
  model.feed_forward.ffn = config.Integer("intermediate_size");
}

void ReadLlama(ConfigJson& config, ModelSpec& model) {
  ReadDense(config, model);
  model.feed_forward.bias = config.FlagOr("mlp_bias", false);
}

void ReadMixtral(ConfigJson& config, ModelSpec& model) {
  Experts experts;
  experts.experts = config.Integer("num_local_experts");
  experts.top_k = config.Integer("num_experts_per_tok");
  experts.ffn = config.Integer("intermediate_size");
  model.experts = experts;
}

void ReadQwen3Moe(ConfigJson& config, ModelSpec& model) {
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

void ReadQwen3Next(ConfigJson& config, ModelSpec& model) {
  ReadQwen3Moe(config, model);
  model.experts->shared_ffn = config.Integer("shared_expert_intermediate_size");
  model.experts->shared_gate = model.experts->shared_ffn > 0;
}

// Reads a key under either of two names; the first is the name in DeepSeek's
// files.
int64_t ReadEither(ConfigJson& config, std::string_view key,
                   std::string_view other) {
  return config.Integer(config.Has(other) && !config.Has(key) ? other : key);
}

// Reads the groups of experts. With topk_method "greedy" the router picks among
// all experts, whatever the groups are.
//
// Source: DeepSeek-V2, modeling_deepseek.py, MoEGate.
void ReadExpertGroups(ConfigJson& config, Experts& experts) {
  const int64_t groups = config.IntegerOr("n_group", 1);
  const int64_t top_groups = config.IntegerOr("topk_group", 1);
  const bool is_greedy = config.Has("topk_method") &&
                         config.fields().Text("topk_method") == "greedy";
  if (is_greedy) return;
  experts.groups = groups;
  experts.top_groups = top_groups;
}

void ReadDeepSeekV2(ConfigJson& config, ModelSpec& model) {
  config.ExpectAbsentOr("mlp_bias", "false");
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
  ReadExpertGroups(config, experts);
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
void ReadDeepSeekV3(ConfigJson& config, ModelSpec& model) {
  ReadDeepSeekV2(config, model);
  model.experts->router_bias = true;
}

void ReadGptOss(ConfigJson& config, ModelSpec& model) {
  ReadMixtral(config, model);
  model.experts->router_bias = true;
  model.experts->expert_bias = true;
}

// A model type, and the function that reads its files except the attention.
struct ModelType {
  std::string_view name;
  void (*read)(ConfigJson&, ModelSpec&);
};
constexpr ModelType kModelTypes[] = {
    {"llama", ReadLlama},
    {"mistral", ReadDense},
    {"mixtral", ReadMixtral},
    {"qwen2", ReadDense},
    {"qwen3", ReadDense},
    {"qwen3_moe", ReadQwen3Moe},
    {"qwen3_next", ReadQwen3Next},
    {"deepseek_v2", ReadDeepSeekV2},
    {"deepseek_v3", ReadDeepSeekV3},
    {"gpt_oss", ReadGptOss},
};

// Checks that the list of layer types agrees with the other keys.
void CompareLayerTypes(ConfigJson& config, const ModelSpec& model) {
  if (!config.Has("layer_types")) return;
  const std::vector<std::string> types = config.Texts("layer_types");
  if (types.size() != static_cast<size_t>(model.layers)) {
    config.fields().Error("layer_types",
                          fmt::format("layer_types has {} items: expected {}",
                                      types.size(), model.layers));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    const auto layer = static_cast<int64_t>(i);
    const std::string_view type =
        std::visit([&](const auto& kind) { return kind.LayerType(layer); },
                   model.AttentionOf(layer));
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
  ConfigJson config(file, contents, kWithoutEffect);
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
  model.attention = *ReadAttention(config, /*beside=*/false, type.name, model);
  type.read(config, model);
  model.other_attention =
      ReadAttention(config, /*beside=*/true, type.name, model);
  const int64_t predicted = config.IntegerOr("num_nextn_predict_layers", 0);
  ASTRA_RETURN_IF_ERROR(config.status());
  if (const absl::Status status = CheckModel(model); !status.ok()) {
    config.fields().Error("", std::string(status.message()));
  }
  ASTRA_RETURN_IF_ERROR(config.status());
  CompareLayerTypes(config, model);
  ASTRA_RETURN_IF_ERROR(config.status());

  if (predicted > 0) {
    warnings->push_back(
        config.At("num_nextn_predict_layers",
                  fmt::format("num_nextn_predict_layers is {}: layers that "
                              "predict further tokens are trained with "
                              "--mtp-num-layers {} only",
                              predicted, predicted)));
  }
  WarnOfOthers(file, config, warnings);
  return model;
}

}  // namespace astra
