#include "astra-core/planner/simumax/training.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/release.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/planner/simumax/tool_fields.h"
#include "fmt/core.h"
#include "workload/attention/full_attention.h"
#include "workload/attention/latent_attention.h"
#include "workload/generator/layout_rules.h"
#include "workload/generator/model_parts.h"
#include "workload/generator/training.h"

namespace astra {
namespace {

AnyAttention AttentionOf(const SimumaxModel& model) {
  if (!model.is_latent) {
    FullAttention attention;
    attention.heads = model.heads;
    attention.kv_heads = model.kv_heads;
    attention.head_dim = model.head_size;
    return attention;
  }
  LatentAttention attention;
  attention.heads = model.heads;
  attention.q_lora_rank = model.q_lora_rank;
  attention.kv_lora_rank = model.kv_lora_rank;
  attention.nope_head_dim = model.nope_head_dim;
  attention.rope_head_dim = model.rope_head_dim;
  attention.v_head_dim = model.v_head_dim;
  return attention;
}

ModelSpec ModelOf(const SimumaxModel& model) {
  ModelSpec spec;
  spec.name = model.name;
  spec.layers = model.layers;
  spec.hidden = model.hidden;
  spec.vocabulary = model.vocabulary;
  spec.attention = AttentionOf(model);
  const bool has_experts =
      model.experts > 1 && model.dense_layers < model.layers;
  const bool has_dense = !has_experts || model.dense_layers > 0;
  spec.feed_forward = {.ffn = has_dense ? model.ffn : 0, .gated = model.gated};
  if (!has_experts) return spec;
  spec.experts = Experts{.experts = model.experts,
                         .top_k = model.top_k,
                         .ffn = model.expert_ffn,
                         .shared_ffn = model.shared_ffn,
                         .dense_layers = model.dense_layers};
  return spec;
}

// Returns the place of `key`; an absent one is missing at the begin of the
// file.
std::string PlaceOf(const SimumaxStrategy& strategy, std::string_view key) {
  const auto found = strategy.places.find(key);
  return found == strategy.places.end() ? fmt::format("{}:1:1", strategy.file)
                                        : found->second;
}

absl::Status Wrong(const SimumaxStrategy& strategy, std::string_view key,
                   int64_t value, std::string_view rule) {
  return absl::InvalidArgumentError(fmt::format(
      "{}: {} is {}: {}", PlaceOf(strategy, key), key, value, rule));
}

absl::Status CheckDivides(const SimumaxStrategy& strategy, std::string_view key,
                          int64_t value, int64_t number,
                          std::string_view what) {
  if (number % value == 0) return absl::OkStatus();
  return Wrong(strategy, key, value,
               fmt::format("expected a divisor of {} = {}{}", what, number,
                           NearestDivisors(value, number)));
}

absl::Status CheckSizes(const SimumaxModel& model,
                        const SimumaxStrategy& strategy) {
  const auto check = [&](std::string_view key, int64_t value, int64_t number,
                         std::string_view what) {
    return CheckDivides(strategy, key, value, number, what);
  };
  ASTRA_RETURN_IF_ERROR(
      check("tp_size", strategy.tensor, model.heads, "head_num"));
  if (!model.is_latent) {
    ASTRA_RETURN_IF_ERROR(
        check("tp_size", strategy.tensor, model.kv_heads, "kv_head_num"));
  }
  ASTRA_RETURN_IF_ERROR(
      check("tp_size", strategy.tensor, model.ffn, "intermediate_size"));
  ASTRA_RETURN_IF_ERROR(check("cp_size", strategy.context,
                              model.heads / strategy.tensor,
                              "head_num / tp_size"));
  if (model.experts == 1 && strategy.expert > 1) {
    return Wrong(strategy, "ep_size", strategy.expert,
                 fmt::format("expected 1; {} has no experts", model.name));
  }
  ASTRA_RETURN_IF_ERROR(
      check("ep_size", strategy.expert, model.experts, "expert_num"));
  return check("etp_size", strategy.expert_tensor, model.expert_ffn,
               "moe_ffn_hidden_size");
}

// Returns the blocks that the stages between the first and the last share, and
// the number of these stages, where the strategy says what the ends have.
absl::Status CheckUnevenStages(const SimumaxModel& model,
                               const SimumaxStrategy& strategy) {
  if (strategy.account_for_embedding || strategy.account_for_loss) {
    return absl::InvalidArgumentError(
        fmt::format("{}: num_layers_in_first_pipeline_stage and "
                    "num_layers_in_last_pipeline_stage exclude "
                    "account_for_embedding_in_pipeline_split and "
                    "account_for_loss_in_pipeline_split",
                    PlaceOf(strategy, "pp_size")));
  }
  int64_t layers = model.layers;
  int64_t stages = strategy.pipeline;
  for (const auto& end :
       {strategy.first_stage_layers, strategy.last_stage_layers}) {
    if (!end) continue;
    layers -= *end;
    --stages;
  }
  if (layers < 0 || (stages <= 0 && layers != 0) ||
      (stages > 0 && (layers % stages != 0 || layers == 0))) {
    return Wrong(strategy, "pp_size", strategy.pipeline,
                 fmt::format("{} of the {} layers remain for {} stages", layers,
                             model.layers, stages));
  }
  return absl::OkStatus();
}

absl::Status CheckStages(const SimumaxModel& model,
                         const SimumaxStrategy& strategy) {
  if (strategy.first_stage_layers || strategy.last_stage_layers) {
    return CheckUnevenStages(model, strategy);
  }
  const int64_t units = model.layers +
                        (strategy.account_for_embedding ? 1 : 0) +
                        (strategy.account_for_loss ? 1 : 0);
  const std::string_view what =
      units == model.layers ? "layer_num" : "layer_num with embedding and loss";
  ASTRA_RETURN_IF_ERROR(
      CheckDivides(strategy, "pp_size", strategy.pipeline, units, what));
  return CheckDivides(strategy, "interleaving_size", strategy.chunks,
                      units / strategy.pipeline, "the layers of a stage");
}

// Returns what a selective granularity repeats of the blocks of `model`.
RecomputeModules ModulesOf(const SimumaxModel& model,
                           const SimumaxRecompute& recompute) {
  using enum RecomputeModule;
  RecomputeModules modules;
  const auto add_if = [&modules](bool condition, RecomputeModule module) {
    if (condition) modules.Add(module);
  };
  const bool has_experts = model.experts > 1;
  switch (recompute.granularity) {
    case SimumaxGranularity::kNone:
    case SimumaxGranularity::kFullBlock:
      break;
    case SimumaxGranularity::kSdpOnly:
      modules.Add(kCoreAttention);
      break;
    case SimumaxGranularity::kMlpOnly:
      modules.Add(kFeedForwardNorm);
      modules.Add(kFeedForwardProducts);
      add_if(has_experts, kMoe);
      break;
    case SimumaxGranularity::kSelective:
      add_if(recompute.attention, kCoreAttention);
      add_if(recompute.attention,
             model.is_latent ? kLatentUpProjection : kQkvProjection);
      add_if(recompute.attention_norm, kAttentionNorm);
      add_if(recompute.attention_norm && model.is_latent, kLatentDown);
      add_if(recompute.mlp, kFeedForwardProducts);
      add_if(recompute.mlp && has_experts, kExpertProducts);
      add_if(recompute.mlp_norm, kFeedForwardNorm);
      add_if(recompute.mlp_norm && has_experts, kRouter);
      add_if(recompute.mlp_norm && model.shared_ffn > 0, kSharedExperts);
      break;
    case SimumaxGranularity::kMegatron:
      for (const std::string& name : recompute.megatron) {
        add_if(name == "layernorm", kLayerNorm);
        add_if(name == "mla_up_proj" && model.is_latent, kLatentUpProjection);
        add_if(name == "moe_act" && has_experts, kMoeActivation);
        add_if(name == "moe" && has_experts, kMoe);
        // The input of the products is kept, as without a fused norm.
        add_if(name == "mlp", kFeedForwardProducts);
      }
      break;
  }
  return modules;
}

void SetRecompute(const SimumaxModel& model, const SimumaxRecompute& recompute,
                  TrainingSetup& setup) {
  if (recompute.granularity == SimumaxGranularity::kNone) return;
  setup.recompute_method = RecomputeMethod::kBlock;
  setup.recompute_layers = recompute.layers;
  if (recompute.granularity == SimumaxGranularity::kFullBlock) {
    setup.recompute = Recompute::kFull;
    return;
  }
  setup.recompute_modules = ModulesOf(model, recompute);
  if (!setup.recompute_modules.empty()) setup.recompute = Recompute::kSelective;
}

TrainingSetup SetupOf(const SimumaxModel& model,
                      const SimumaxStrategy& strategy) {
  TrainingSetup setup;
  setup.world_size = strategy.gpus;
  setup.tensor = strategy.tensor;
  setup.context = strategy.context;
  setup.pipeline = strategy.pipeline;
  setup.virtual_stages = strategy.chunks;
  setup.expert = strategy.expert;
  setup.expert_tensor = strategy.expert_tensor;
  setup.micro_batch = strategy.micro_batch;
  setup.global_batch = strategy.global_batch();
  setup.positions = strategy.sequence;
  setup.first_stage_layers = strategy.first_stage_layers;
  setup.last_stage_layers = strategy.last_stage_layers;
  setup.account_for_embedding = strategy.account_for_embedding;
  setup.account_for_loss = strategy.account_for_loss;
  setup.sequence_parallel = strategy.sequence_parallel && strategy.tensor > 1;
  setup.context_method = ContextMethod::kAllToAll;
  setup.precision = strategy.fp8 ? Precision::kFp8 : Precision::kBf16;
  setup.fused_loss = strategy.fused_loss;
  setup.zero = strategy.zero == 0 ? Zero::kNone : Zero::kOptimizer;
  setup.gradient_bytes = strategy.gradient_bytes;
  setup.overlap_messages = false;
  // Without a release, SimuMax takes one that keeps neither buffers nor both
  // outputs.
  setup.transformer_engine = ReleaseOf(strategy.transformer_engine);
  if (setup.transformer_engine.empty()) setup.transformer_engine = {1};
  setup.weights_in_experts = strategy.sends_probabilities;
  setup.vocabulary_divisor =
      model.pads_vocabulary ? model.vocabulary_divisor : 0;
  SetRecompute(model, strategy.recompute, setup);
  if (model.experts > 1) {
    const int64_t ranks = setup.sequence_parallel ? strategy.tensor : 1;
    const int64_t copies = model.top_k * strategy.micro_batch *
                           strategy.sequence / strategy.context / ranks;
    setup.expert_load = static_cast<double>(RoutedTokensOf(model, strategy)) /
                        static_cast<double>(copies);
  }
  return setup;
}

// Stages with fewer blocks than recompute recompute all of theirs.
void LimitRecompute(const ModelSpec& model, TrainingSetup& setup) {
  const absl::StatusOr<std::vector<int64_t>> layers = PartLayers(model, setup);
  if (!layers.ok() || !setup.recompute_layers) return;
  setup.recompute_layers =
      std::min(*setup.recompute_layers,
               *std::max_element(layers->begin(), layers->end()));
}

// Returns the bytes of the queries, keys and values of `attention`.
int64_t InputBytes(const Attention& attention) {
  return kValueBytes * attention.batch * attention.queries *
         (attention.heads * attention.qk_dim +
          attention.kv_heads * (attention.qk_dim + attention.v_dim));
}

// Adds what SimuMax counts in a module beside this program's memory:
//
//   shared experts  keep a normed input of their own beside the router's
//   GELU            keeps three tensors instead of one
//   attention       has its inputs and their gradients while it goes backward,
//                   without context parallelism
//   sum of experts  its output is as large as the hidden states, and the
//                   weighted outputs of the experts take no memory of their own
void AddMemory(const SimumaxModel& model, const SimumaxStrategy& strategy,
               const TrainingSetup& setup, MockModule& module) {
  const int64_t hidden_bytes =
      kValueBytes * setup.module_context().split_tokens() * model.hidden;
  const bool repeats = !module.pass(ModulePass::kRecompute).empty();
  ModuleMemory& memory = module.memory;
  const std::string_view name = PlainName(module.name);
  if (name == "shared_column" && !repeats) memory.saved += Bytes(hidden_bytes);
  if (name == "moe_combine") {
    const int64_t routed_bytes =
        kValueBytes * RoutedTokensOf(model, strategy) * model.hidden;
    memory.workspace -= Bytes(routed_bytes - hidden_bytes);
  }
  for (const ModuleStep& step : module.pass(ModulePass::kForward)) {
    const auto* stream = std::get_if<Stream>(&step.op.shape);
    // The stream reads and writes a tensor.
    if (step.op.name == "gelu" && !repeats && stream != nullptr) {
      memory.saved += Bytes(stream->bytes);
    }
    const auto* attention = std::get_if<Attention>(&step.op.shape);
    if (attention != nullptr && setup.context == 1) {
      memory.workspace =
          std::max(memory.workspace,
                   Bytes(2 * InputBytes(*attention) + module.recomputed_bytes));
    }
  }
}

}  // namespace

int64_t RoutedTokensOf(const SimumaxModel& model,
                       const SimumaxStrategy& strategy) {
  const int64_t ranks = strategy.sequence_parallel ? strategy.tensor : 1;
  const int64_t copies = model.top_k * strategy.micro_batch *
                         (strategy.sequence / strategy.context / ranks);
  if (!model.pads_experts) return copies;
  const int64_t each = (copies + model.experts - 1) / model.experts;
  return std::llround(static_cast<double>(each * model.experts) *
                      model.capacity);
}

absl::StatusOr<SimumaxTraining> TrainingOf(const SimumaxModel& model,
                                           const SimumaxStrategy& strategy) {
  if (const absl::Status tokens =
          CheckTokens(strategy.micro_batch, strategy.sequence);
      !tokens.ok()) {
    return absl::InvalidArgumentError(fmt::format(
        "{}:1:1: {}", strategy.file, std::string(tokens.message())));
  }
  ASTRA_RETURN_IF_ERROR(CheckSizes(model, strategy));
  ASTRA_RETURN_IF_ERROR(CheckStages(model, strategy));
  SimumaxTraining training;
  training.model = ModelOf(model);
  training.setup = SetupOf(model, strategy);
  LimitRecompute(training.model, training.setup);
  absl::StatusOr<Blueprint> blueprint =
      TrainingBlueprint(training.model, training.setup);
  if (!blueprint.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("{}:1:1: {}", strategy.file,
                    std::string(blueprint.status().message())));
  }
  training.blueprint = *std::move(blueprint);
  for (MockModule& module : training.blueprint.modules) {
    AddMemory(model, strategy, training.setup, module);
  }
  return training;
}

}  // namespace astra
