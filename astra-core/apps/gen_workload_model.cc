#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/types/span.h"
#include "astra-core/apps/gen_workload_options.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"
#include "workload/models/aicb_config.h"
#include "workload/models/model_library.h"

namespace astra {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 32;

// Names of models in AICB's scripts and generators, and for each the bundled
// model of the published shape.
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
    {"deepseek-671B", "deepseek-v3"},
    {"qwen3-235B", "qwen3-moe-235b-a22b"},
    {"qwen3-next-80B", "qwen3-next-80b-a3b"},
    {"gpt_7B", "gpt-7b"},
    {"gpt_13B", "gpt-13b"},
    {"gpt_22B", "gpt-22b"},
    {"gpt_175B", "gpt-175b"},
    {"llama_65B", "llama-65b"},
    {"llama_405B", "llama3-405b"},
    {"Mixtral_8*7B", "mixtral-8x7b"},
    {"DeepSeek_16B", "deepseek-v2-lite"},
    {"DeepSeek_236B", "deepseek-v2"},
};

// The value of -m in AICB's scripts that only names the framework. The sizes
// are then those of the options, or the defaults of the scripts.
constexpr std::string_view kAicbDeepSeek = "deepseek";

// Names of families that AICB's inference generator looks for in its first
// operand, and the bundled model that stands for each.
constexpr std::pair<std::string_view, std::string_view> kAicbFamilies[] = {
    {"qwen3-moe", "qwen3-moe-235b-a22b"},
    {"qwen3-next", "qwen3-next-80b-a3b"},
    {"deepseek", "deepseek-v3"},
};

// Returns the model that AICB's generator makes without a preset.
ModelSpec AicbGpt() {
  ModelSpec model;
  model.name = "gpt";
  model.vocabulary = 32'000;
  model.positions = Positions::kLearned;
  model.max_positions = 4'096;
  model.tied_embeddings = true;
  model.norm = Norm::kLayer;
  model.norm_bias = true;
  return model;
}

// Returns the model that AICB builds with --frame=DeepSeek. Every block has RMS
// norms and latent attention, and all but the first blocks have experts.
ModelSpec AicbDeepSeek() {
  ModelSpec model;
  model.name = kAicbDeepSeek;
  model.layers = 40;
  model.hidden = 5'120;
  model.vocabulary = 32'000;
  model.max_positions = 4'096;
  model.attention = LatentAttention{.heads = 40,
                                    .q_lora_rank = 1'536,
                                    .kv_lora_rank = 512,
                                    .nope_head_dim = 128,
                                    .rope_head_dim = 64,
                                    .v_head_dim = 128};
  model.feed_forward.gated = true;
  model.experts = {.experts = 1, .top_k = 1, .dense_layers = 3};
  return model;
}

// Overwrites a value with the user's, if any.
absl::Status Override(const CommandLine& flags, std::string_view name,
                      int64_t* value) {
  ASTRA_ASSIGN_OR_RETURN(*value, flags.integer(name, *value, 1, kMaxSize));
  return absl::OkStatus();
}

absl::Status OverrideLatent(const CommandLine& flags, ModelSpec& model) {
  const std::string_view name = model.name;
  auto* const found = std::get_if<LatentAttention>(&model.attention);
  if (found == nullptr) {
    constexpr std::string_view kLatent[] = {"q-lora-rank", "kv-lora-rank",
                                            "qk-nope-dim", "qk-rope-dim",
                                            "v-head-dim"};
    return Refuse(flags, kLatent,
                  fmt::format("{} has no latent attention", name));
  }
  LatentAttention& attention = *found;
  constexpr std::string_view kGroups[] = {"num-query-groups"};
  ASTRA_RETURN_IF_ERROR(
      Refuse(flags, kGroups, fmt::format("{} has latent attention", name)));
  ASTRA_ASSIGN_OR_RETURN(
      attention.q_lora_rank,
      flags.integer("q-lora-rank", attention.q_lora_rank, 0, kMaxSize));
  for (const auto& [option, value] :
       {std::pair{"num-attention-heads", &attention.heads},
        std::pair{"kv-lora-rank", &attention.kv_lora_rank},
        std::pair{"qk-nope-dim", &attention.nope_head_dim},
        std::pair{"qk-rope-dim", &attention.rope_head_dim},
        std::pair{"v-head-dim", &attention.v_head_dim}}) {
    ASTRA_RETURN_IF_ERROR(Override(flags, option, value));
  }
  return absl::OkStatus();
}

absl::Status OverrideAttention(const CommandLine& flags, ModelSpec& model) {
  ASTRA_RETURN_IF_ERROR(OverrideLatent(flags, model));
  if (std::holds_alternative<LatentAttention>(model.attention)) {
    return absl::OkStatus();
  }
  auto* const full = std::get_if<FullAttention>(&model.attention);
  if (full == nullptr) {
    constexpr std::string_view kHeads[] = {"num-attention-heads",
                                           "num-query-groups"};
    return Refuse(flags, kHeads,
                  fmt::format("{} has no full attention", model.name));
  }
  if (!flags.has("num-attention-heads") && !flags.has("num-query-groups") &&
      !flags.has("hidden-size")) {
    return absl::OkStatus();
  }
  FullAttention& attention = *full;
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
                                 ModelSpec& model, Warnings* warnings) {
  FeedForward& part = model.feed_forward;
  if (flags.has("swiglu") && part.gated) {
    warnings->push_back(fmt::format(
        "--swiglu has no effect: the feed-forward part of {} is gated",
        model.name));
  }
  // Megatron-LM's default width. With a third matrix, the width is 2/3 of it.
  const int64_t usual = 4 * model.hidden;
  if (is_aicb) part.ffn = usual;
  if (flags.has("swiglu") && !part.gated) {
    part.gated = true;
    if (part.ffn == usual) part.ffn = usual * 2 / 3 / 64 * 64;
  }
  if (flags.has("add-bias-linear")) {
    part.bias = true;
    if (auto* const full = std::get_if<FullAttention>(&model.attention)) {
      full->qkv_bias = true;
      full->output_bias = true;
    }
  }
  return Override(flags, "ffn-hidden-size", &part.ffn);
}

absl::Status OverrideExpertSizes(const CommandLine& flags, Experts& experts) {
  const Experts before = experts;
  ASTRA_RETURN_IF_ERROR(Override(flags, "num-experts", &experts.experts));
  ASTRA_RETURN_IF_ERROR(Override(flags, "moe-router-topk", &experts.top_k));
  RemoveGroupsIfChanged(before, experts);
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

absl::Status OverrideExperts(const CommandLine& flags, bool is_aicb,
                             ModelSpec& model) {
  constexpr std::string_view kNeedExperts[] = {
      "num-experts", "moe-router-topk", "moe-ffn-hidden-size",
      "n-shared-expert", "n-dense-layers"};
  // One expert, and one expert for each token, are AICB's defaults and mean
  // that there are no experts.
  const auto is_one = [&flags](std::string_view name) {
    return (name == "num-experts" || name == "moe-router-topk") &&
           flags.value(name) == "1" && !flags.has("moe-enable");
  };
  if (is_aicb && model.experts) {  // In AICB, DeepSeek has one width.
    model.experts->ffn = model.feed_forward.ffn;
    model.experts->shared_ffn = 2 * model.experts->ffn;
  }
  const bool wanted = (flags.has("num-experts") && !is_one("num-experts")) ||
                      flags.has("moe-enable");
  if (is_aicb && wanted && !model.experts) {
    // Every block has experts. Each is as wide as the feed-forward part was,
    // and is gated as Mixtral's are.
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
  return OverrideExpertSizes(flags, *model.experts);
}

// Returns the bundled model that AICB's `name` means, or `name` itself.
std::string_view OursOf(std::string_view name) {
  for (const auto& [aicb, ours] : kAicbModels) {
    if (IsNamed(name, aicb, {})) return ours;
  }
  return name;
}

// Returns the model of AICB's inference generator. `name` contains the name of
// a family, and `file`, if there is one, gives the sizes.
absl::StatusOr<ModelSpec> ReadOperands(absl::Span<const std::string> operands,
                                       Warnings* warnings) {
  const std::string& name = operands[0];
  std::string_view ours = OursOf(name);
  const std::string lower = LowerCase(name);
  for (const auto& [family, bundled] : kAicbFamilies) {
    if (ours == name && lower.find(family) != std::string::npos) ours = bundled;
  }
  absl::StatusOr<ModelSpec> model = FindModel(ours, warnings);
  ASTRA_RETURN_IF_ERROR(model.status());
  if (operands.size() > 1) {
    model = ReadAicbConfig(operands[1], *model, warnings);
    ASTRA_RETURN_IF_ERROR(model.status());
  }
  model->name = name;
  return model;
}

// Returns the model that the command line names; none if it only gives sizes.
absl::StatusOr<std::optional<ModelSpec>> NamedModel(const CommandLine& flags,
                                                    Warnings* warnings) {
  const std::optional<std::string> name = flags.value("model");
  if (!flags.operands().empty()) {
    if (name) {
      return absl::InvalidArgumentError(
          fmt::format("unexpected argument {}: --model names the model",
                      Quoted(flags.operands()[0])));
    }
    constexpr std::string_view kSizes[] = {"config"};
    ASTRA_RETURN_IF_ERROR(Refuse(flags, kSizes, "the operands name the model"));
    return ReadOperands(flags.operands(), warnings);
  }
  constexpr std::string_view kSizes[] = {"config"};
  if (!name || *name == kAicbDeepSeek) {
    ASTRA_RETURN_IF_ERROR(Refuse(flags, kSizes, "no --model is named"));
    return std::nullopt;
  }
  ASTRA_ASSIGN_OR_RETURN(ModelSpec model, FindModel(OursOf(*name), warnings));
  if (!flags.has("config")) return model;
  return ReadAicbConfig(*flags.value("config"), model, warnings);
}

}  // namespace

absl::StatusOr<ModelSpec> ReadModelOptions(const CommandLine& flags,
                                           Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(const std::optional<ModelSpec> named,
                         NamedModel(flags, warnings));
  const bool is_aicb = !named;
  ModelSpec model =
      named ? *named
      : flags.value("framework") == "DeepSeek" || flags.has("model")
          ? AicbDeepSeek()
          : AicbGpt();
  if (is_aicb && !flags.has("model") &&
      (!flags.has("num-layers") || !flags.has("hidden-size") ||
       !flags.has("num-attention-heads"))) {
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
  ASTRA_RETURN_IF_ERROR(OverrideFeedForward(flags, is_aicb, model, warnings));
  ASTRA_RETURN_IF_ERROR(OverrideExperts(flags, is_aicb, model));
  if (!(model == original)) model.published_parameters.reset();
  model.name = flags.value("model-name").value_or(model.name);
  return model;
}

}  // namespace astra
