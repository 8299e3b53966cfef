#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "astra-core/apps/gen_workload_options.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/models/model_library.h"

namespace astra {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 32;

// AICB's -m, and the bundled model of the published shape.
constexpr std::pair<std::string_view, std::string_view> kAicbModels[] = {
    {"7", "gpt-7b"},
    {"13", "gpt-13b"},
    {"22", "gpt-22b"},
    {"65", "llama-65b"},
    {"175", "gpt-175b"},
    {"405", "llama3-405b"},
    {"moe", "mixtral-8x7b"},
    {"deepseek16", "deepseek-v2-lite"},
    {"deepseek236", "deepseek-v2"},
    {"deepseek671", "deepseek-v3"},
};

// What AICB's generator makes without a preset.
ModelSpec AicbModel() {
  ModelSpec model;
  model.name = "gpt";
  model.vocabulary = 32'000;
  model.positions = Positions::kLearned;
  model.max_positions = 4'096;
  model.tied_embeddings = true;
  model.norm = Norm::kLayer;
  model.norm_bias = true;
  model.full_attention = FullAttention();
  return model;
}

// Overwrites what the user gave.
absl::Status Override(const CommandLine& flags, std::string_view name,
                      int64_t* value) {
  ASTRA_ASSIGN_OR_RETURN(*value, flags.integer(name, *value, 1, kMaxSize));
  return absl::OkStatus();
}

absl::Status OverrideAttention(const CommandLine& flags, ModelSpec& model) {
  if (!flags.has("num-attention-heads") && !flags.has("num-query-groups") &&
      !flags.has("hidden-size")) {
    return absl::OkStatus();
  }
  if (!model.full_attention) {
    return absl::InvalidArgumentError(fmt::format(
        "--hidden-size, --num-attention-heads and --num-query-groups do not "
        "describe the attention of {}: write a model file",
        model.name));
  }
  FullAttention& attention = *model.full_attention;
  const bool grouped =
      attention.kv_heads != attention.heads || flags.has("num-query-groups");
  ASTRA_RETURN_IF_ERROR(
      Override(flags, "num-attention-heads", &attention.heads));
  if (!grouped) attention.kv_heads = attention.heads;
  ASTRA_RETURN_IF_ERROR(
      Override(flags, "num-query-groups", &attention.kv_heads));
  if (attention.heads < 1 || model.hidden % attention.heads != 0) {
    return absl::InvalidArgumentError(
        fmt::format("--num-attention-heads {} does not divide the hidden size "
                    "{}",
                    attention.heads, model.hidden));
  }
  if (flags.has("num-attention-heads") || flags.has("hidden-size")) {
    attention.head_dim = model.hidden / attention.heads;
  }
  return absl::OkStatus();
}

absl::Status OverrideFeedForward(const CommandLine& flags, bool is_aicb,
                                 ModelSpec& model) {
  FeedForward& part = model.feed_forward;
  // Megatron-LM's default width; with a third matrix it is 2/3 of that.
  const int64_t usual = 4 * model.hidden;
  if (is_aicb) part.ffn = usual;
  if (flags.has("swiglu") && !part.gated) {
    part.gated = true;
    if (part.ffn == usual) part.ffn = usual * 2 / 3 / 64 * 64;
  }
  if (flags.has("add-bias-linear")) {
    part.bias = true;
    if (model.full_attention) {
      model.full_attention->qkv_bias = true;
      model.full_attention->output_bias = true;
    }
  }
  return Override(flags, "ffn-hidden-size", &part.ffn);
}

absl::Status OverrideExperts(const CommandLine& flags, bool is_aicb,
                             ModelSpec& model) {
  constexpr std::string_view kNeedExperts[] = {
      "num-experts", "moe-router-topk", "moe-ffn-hidden-size",
      "n-shared-expert", "n-dense-layers"};
  // One expert, AICB's default, is none.
  const auto is_one = [&flags](std::string_view name) {
    return flags.value(name) == "1" && !flags.has("moe-enable");
  };
  const bool wanted = (flags.has("num-experts") && !is_one("num-experts")) ||
                      flags.has("moe-enable");
  if (is_aicb && wanted) {
    // Every block, each expert as wide as the feed-forward part was, and gated
    // as Mixtral's.
    model.experts = Experts{.experts = 1, .top_k = 1};
    model.experts->ffn = model.feed_forward.ffn;
    model.feed_forward = FeedForward{.gated = true};
  }
  if (!model.experts) {
    for (const std::string_view name : kNeedExperts) {
      if (!flags.has(name) || is_one(name)) continue;
      return absl::InvalidArgumentError(fmt::format(
          "--{} has no effect: {} has no experts", name, model.name));
    }
    if (flags.has("moe-enable")) {
      return absl::InvalidArgumentError(
          fmt::format("--moe-enable: {} has no experts", model.name));
    }
    return absl::OkStatus();
  }
  Experts& experts = *model.experts;
  ASTRA_RETURN_IF_ERROR(Override(flags, "num-experts", &experts.experts));
  ASTRA_RETURN_IF_ERROR(Override(flags, "moe-router-topk", &experts.top_k));
  ASTRA_RETURN_IF_ERROR(Override(flags, "moe-ffn-hidden-size", &experts.ffn));
  ASTRA_ASSIGN_OR_RETURN(
      experts.dense_layers,
      flags.integer("n-dense-layers", experts.dense_layers, 0, kMaxSize));
  if (flags.has("n-shared-expert")) {
    ASTRA_ASSIGN_OR_RETURN(const int64_t count,
                           flags.integer("n-shared-expert", 0, 0, kMaxSize));
    experts.shared_ffn = count * experts.ffn;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ModelSpec> ReadModelOptions(const CommandLine& flags,
                                           Warnings* warnings) {
  const bool is_aicb = !flags.has("model");
  ModelSpec model = AicbModel();
  if (!is_aicb) {
    const std::string name = *flags.value("model");
    const auto preset =
        std::find_if(std::begin(kAicbModels), std::end(kAicbModels),
                     [&](const auto& known) { return known.first == name; });
    ASTRA_ASSIGN_OR_RETURN(
        model,
        FindModel(preset == std::end(kAicbModels) ? name : preset->second,
                  warnings));
  } else if (!flags.has("num-layers") || !flags.has("hidden-size") ||
             !flags.has("num-attention-heads")) {
    return absl::InvalidArgumentError(
        "--model is missing: give a name or a file, or --num-layers, "
        "--hidden-size and --num-attention-heads");
  }
  const ModelSpec original = model;
  ASTRA_RETURN_IF_ERROR(Override(flags, "num-layers", &model.layers));
  ASTRA_RETURN_IF_ERROR(Override(flags, "hidden-size", &model.hidden));
  ASTRA_RETURN_IF_ERROR(Override(flags, "vocab-size", &model.vocabulary));
  ASTRA_RETURN_IF_ERROR(
      Override(flags, "max-position-embeddings", &model.max_positions));
  ASTRA_RETURN_IF_ERROR(OverrideAttention(flags, model));
  ASTRA_RETURN_IF_ERROR(OverrideFeedForward(flags, is_aicb, model));
  ASTRA_RETURN_IF_ERROR(OverrideExperts(flags, is_aicb, model));
  if (!(model == original)) model.published_parameters.reset();
  model.name = flags.value("model-name").value_or(model.name);
  return model;
}

}  // namespace astra
