// The strategy of SimuMax; see simumax_files.h.

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/names.h"
#include "astra-core/planner/simumax/simumax_files.h"
#include "astra-core/planner/simumax/tool_fields.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Products of three of these sizes stay below 2^63.
constexpr IntegerRange kSize = {.min = 1, .max = int64_t{1} << 20};
constexpr IntegerRange kPositions = {.min = 1, .max = int64_t{1} << 24};

// A switch whose other value this program cannot express.
struct Fixed {
  std::string_view key;
  bool value;
  std::string_view why;  // Behind "expected VALUE; ".
};
constexpr Fixed kFixed[] = {
    {"cache_groupgemm_col_fp8_inputs", false, "no copy in FP8 is kept"},
    {"offload_groupgemm_col_inputs", false, "nothing is moved to the host"},
    {"use_accm_weight", true, "no weight has a temporary copy"},
    {"use_flash_sdp", true, "attention that stores its scores is not timed"},
    {"use_fused_norm", true, "norms of several kernels are not timed"},
    {"use_fused_swiglu", true, "activations of several kernels are not timed"},
    {"use_fused_grad_accumulation", true,
     "products always add to the gradient"},
};

// Texts with one legal value.
struct FixedText {
  std::string_view key;
  std::string_view value;
};
constexpr FixedText kFixedTexts[] = {
    {"order_of_paralielism", "tp-cp-ep-dp-pp"},
    {"cp_comm_type", "a2a"},
};

void CheckFixed(ToolFields& fields) {
  for (const auto& [key, value, why] : kFixed) {
    if (fields.Flag(key, value) == value) continue;
    fields.Error(
        key, fmt::format("{} is {}: expected {}; {}", key, !value, value, why));
  }
  for (const auto& [key, value] : kFixedTexts) {
    const std::string text = fields.Text(key, std::string(value));
    if (text == value) continue;
    fields.Error(key, fmt::format("{} is {}: expected {}", key, Quoted(text),
                                  Quoted(value)));
  }
}

// Reads what SimuMax accepts and does not heed.
void WarnOfIdle(ToolFields& fields) {
  fields.Ignore("use_math_sdp");         // For other accelerators only.
  fields.Ignore("overlap_grad_reduce");  // Changes none of the results.
  if (fields.Flag("enable_dropout", false)) {
    fields.Warn("enable_dropout",
                "enable_dropout has no effect: SimuMax leaves out dropout");
  }
  for (const std::string_view key : {"tp_net", "cp_net", "pp_net", "dp_net",
                                     "ep_net", "etp_net", "edp_net"}) {
    const std::string net = fields.Text(key, "auto");
    if (net == "auto") continue;
    fields.Warn(key, fmt::format("{} has no effect: SimuMax chooses the "
                                 "network of each group itself",
                                 key));
  }
  constexpr std::string_view kPolicies[] = {"all2all", "all2all-seq"};
  const std::string policy = fields.Text("moe_dispatcher_policy", "all2all");
  if (policy == "all2all-seq") {
    fields.Warn("moe_dispatcher_policy",
                "moe_dispatcher_policy all2all-seq is taken for all2all");
  } else if (policy != "all2all") {
    fields.Error("moe_dispatcher_policy",
                 UnknownName("moe_dispatcher_policy", policy, kPolicies));
  }
  constexpr std::string_view kModes[] = {"async_cp", "sync_cp"};
  const std::string mode = fields.Text("cp_a2a_mode", "async_cp");
  if (mode == "sync_cp") {
    fields.Warn("cp_a2a_mode",
                "cp_a2a_mode sync_cp has the memory of async_cp, which is at "
                "least as large");
  } else if (mode != "async_cp") {
    fields.Error("cp_a2a_mode", UnknownName("cp_a2a_mode", mode, kModes));
  }
}

void ReadSizes(ToolFields& fields, SimumaxStrategy& strategy) {
  strategy.sequence = fields.Integer("seq_len", kPositions);
  strategy.micro_batch = fields.Integer("micro_batch_size", kSize);
  strategy.micro_batches = fields.Integer("micro_batch_num", kSize);
  strategy.gpus = fields.Integer("world_size", kSize, 8);
  strategy.tensor = fields.Integer("tp_size", kSize, 1);
  strategy.context = fields.Integer("cp_size", kSize, 1);
  strategy.pipeline = fields.Integer("pp_size", kSize, 1);
  strategy.expert = fields.Integer("ep_size", kSize, 1);
  strategy.expert_tensor = fields.Integer("etp_size", kSize, 1);
  strategy.chunks = fields.Integer("interleaving_size", kSize, 1);
  const auto layers = [&fields](std::string_view key,
                                std::optional<int64_t>& value) {
    if (fields.Has(key)) value = fields.Integer(key, kSize);
  };
  layers("num_layers_in_first_pipeline_stage", strategy.first_stage_layers);
  layers("num_layers_in_last_pipeline_stage", strategy.last_stage_layers);
  strategy.account_for_embedding =
      fields.Flag("account_for_embedding_in_pipeline_split", false);
  strategy.account_for_loss =
      fields.Flag("account_for_loss_in_pipeline_split", false);
}

// Checks that the groups fill the GPUs. Stops at the first mistake, because
// other rules divide by the sizes.
bool CheckGroups(ToolFields& fields, const SimumaxStrategy& strategy) {
  const auto check = [&](std::string_view sizes, int64_t product) {
    if (strategy.gpus % product == 0) return true;
    fields.Error(
        "world_size",
        fmt::format("world_size is {}: expected a multiple of {} = {}{}",
                    strategy.gpus, sizes, product,
                    NearestMultiples(strategy.gpus, product)));
    return false;
  };
  return check("tp_size x cp_size x pp_size",
               strategy.tensor * strategy.context * strategy.pipeline) &&
         check("ep_size x etp_size x pp_size",
               strategy.expert * strategy.expert_tensor * strategy.pipeline);
}

void CheckPositions(ToolFields& fields, const SimumaxStrategy& strategy) {
  const int64_t shares =
      strategy.context * (strategy.sequence_parallel ? strategy.tensor : 1);
  if (strategy.sequence % shares == 0) return;
  fields.Error(
      "seq_len",
      fmt::format("seq_len is {}: expected a multiple of {} = {}{}",
                  strategy.sequence,
                  strategy.sequence_parallel ? "tp_size x cp_size" : "cp_size",
                  shares, NearestMultiples(strategy.sequence, shares)));
}

void CheckChunks(ToolFields& fields, const SimumaxStrategy& strategy) {
  const bool is_async = fields.Flag("pp_comm_async", true);
  constexpr std::string_view kGroup = "microbatch_group_size_per_vp_stage";
  const int64_t group = fields.Integer(kGroup, kSize, strategy.pipeline);
  if (strategy.chunks == 1) return;
  constexpr int64_t kLeastStages = 3;
  if (strategy.pipeline < kLeastStages) {
    fields.Error("interleaving_size",
                 fmt::format("interleaving_size is {}: expected 1 with pp_size "
                             "{}; several chunks need 3 stages or more",
                             strategy.chunks, strategy.pipeline));
    return;
  }
  if (is_async) {
    fields.Error(
        fields.Has("pp_comm_async") ? "pp_comm_async" : "interleaving_size",
        "pp_comm_async is true: expected false where "
        "interleaving_size is above 1; SimuMax times no other");
  }
  if (group != strategy.pipeline) {
    fields.Error(kGroup, fmt::format("{} is {}: expected pp_size, {}", kGroup,
                                     group, strategy.pipeline));
  }
  if (strategy.micro_batches % strategy.pipeline != 0) {
    fields.Error("micro_batch_num",
                 fmt::format("micro_batch_num is {}: expected a multiple of "
                             "pp_size {} where interleaving_size is above 1{}",
                             strategy.micro_batches, strategy.pipeline,
                             NearestMultiples(strategy.micro_batches,
                                              strategy.pipeline)));
  }
}

void ReadMemory(ToolFields& fields, SimumaxStrategy& strategy) {
  const bool reduces_in_bf16 = fields.Flag("grad_reduce_in_bf16", false);
  const bool sums_in_fp32 = fields.Flag("use_fp32_accum_grad", true);
  constexpr int64_t kFloatBytes = 4;
  constexpr int64_t kHalfBytes = 2;
  strategy.gradient_bytes =
      reduces_in_bf16 || !sums_in_fp32 ? kHalfBytes : kFloatBytes;
  strategy.zero = fields.Integer("zero_state", {.min = 0, .max = 3}, 1);
  if (strategy.zero > 1) {
    fields.Warn("zero_state",
                fmt::format("zero_state {} is taken for 1: SimuMax supports 0 "
                            "and 1",
                            strategy.zero));
    strategy.zero = 1;
  }
  strategy.memory_share =
      fields.Number("mem_factor", {.min = 0.01, .max = 1}, 0.94);
  strategy.transformer_engine = fields.Text("te_version", "");
  for (const auto& [key, value] :
       {std::pair("te_dummy_wgrad_min_version", "2.3.0"),
        std::pair("te_cp_a2a_save_pre_posta2a_min_version", "2.8.0"),
        std::pair("te_grouped_linear_dummy_wgrad_min_version", "2.10.0")}) {
    if (fields.Text(key, value) == value) continue;
    fields.Error(key, fmt::format("{}: expected \"{}\"", key, value));
  }
}

void ReadPrecision(ToolFields& fields, SimumaxStrategy& strategy) {
  constexpr std::string_view kTypes[] = {"bf16", "fp16"};
  const std::string type = fields.Text("dtype", "bf16");
  if (std::find(std::begin(kTypes), std::end(kTypes), type) ==
      std::end(kTypes)) {
    fields.Error("dtype", UnknownName("dtype", type, kTypes));
  }
  strategy.fp8 = fields.Flag("fp8", false);
  if (strategy.fp8) {
    fields.Warn("fp8",
                "with fp8 a weight has 2 bytes and two copies in FP8, as in "
                "Transformer Engine; SimuMax counts 1 byte");
  }
}

// Reads Megatron-LM's modules, and what they exclude.
void ReadMegatron(ToolFields& fields, SimumaxRecompute& recompute) {
  constexpr std::string_view kKey = "megatron_recompute_modules";
  constexpr std::string_view kModules[] = {"layernorm", "mla_up_proj",
                                           "moe_act", "mlp", "moe"};
  recompute.megatron = fields.Texts(kKey);
  if (!fields.Flag("megatron_recompute", false)) {
    if (recompute.megatron.empty()) return;
    fields.Error(kKey, fmt::format("{} needs megatron_recompute", kKey));
    return;
  }
  for (const std::string& module : recompute.megatron) {
    if (std::find(std::begin(kModules), std::end(kModules), module) !=
        std::end(kModules)) {
      continue;
    }
    fields.Error(kKey, UnknownName("module to recompute", module, kModules));
  }
  if (recompute.megatron.empty()) {
    fields.Error("megatron_recompute",
                 fmt::format("megatron_recompute needs {}", kKey));
  }
  if (recompute.granularity != SimumaxGranularity::kSelective ||
      recompute.layers == 0) {
    fields.Error("megatron_recompute",
                 "megatron_recompute needs enable_recompute, "
                 "recompute_granularity selective_recompute and "
                 "recompute_layer_num above 0");
  }
  if (recompute.attention || recompute.attention_norm || recompute.mlp ||
      recompute.mlp_norm || recompute.skips_tails) {
    fields.Error("megatron_recompute",
                 "megatron_recompute excludes attn_recompute, "
                 "mla_rms_recompute, mlp_recompute, mlp_rms_recompute and "
                 "recompute_variance");
  }
  recompute.granularity = SimumaxGranularity::kMegatron;
}

SimumaxGranularity GranularityOf(ToolFields& fields, std::string_view name) {
  struct Named {
    std::string_view name;
    SimumaxGranularity granularity;
  };
  constexpr Named kKnown[] = {
      {"full_block", SimumaxGranularity::kFullBlock},
      {"mlp_only", SimumaxGranularity::kMlpOnly},
      {"sdp_only", SimumaxGranularity::kSdpOnly},
      {"selective_recompute", SimumaxGranularity::kSelective}};
  std::vector<std::string_view> names;
  for (const Named& known : kKnown) {
    if (known.name == name) return known.granularity;
    names.push_back(known.name);
  }
  // SimuMax's "attn_only" does not keep the input of the output projection,
  // which this program always keeps.
  fields.Error("recompute_granularity",
               UnknownName("recompute_granularity", name, names));
  return SimumaxGranularity::kNone;
}

void ReadRecompute(ToolFields& fields, SimumaxRecompute& recompute) {
  constexpr std::string_view kGranularity = "recompute_granularity";
  const bool is_on = fields.Flag("enable_recompute", true);
  recompute.name = fields.Text(kGranularity, "");
  recompute.layers =
      fields.Integer("recompute_layer_num", {.min = 0, .max = kSize.max}, 0);
  recompute.attention = fields.Flag("attn_recompute", false);
  recompute.attention_norm = fields.Flag("mla_rms_recompute", false);
  recompute.mlp = fields.Flag("mlp_recompute", false);
  recompute.mlp_norm = fields.Flag("mlp_rms_recompute", false);
  recompute.skips_tails = fields.Flag("recompute_variance", false);
  if (!recompute.name.empty()) {
    recompute.granularity = GranularityOf(fields, recompute.name);
  }
  if (recompute.granularity == SimumaxGranularity::kSelective) {
    const auto needs = [&fields](std::string_view key, bool is_set,
                                 std::string_view other, bool other_is_set) {
      if (!is_set || other_is_set) return;
      fields.Error(key, fmt::format("{} needs {}", key, other));
    };
    needs("mla_rms_recompute", recompute.attention_norm, "attn_recompute",
          recompute.attention);
    needs("mlp_rms_recompute", recompute.mlp_norm, "mlp_recompute",
          recompute.mlp);
  }
  if (recompute.granularity == SimumaxGranularity::kFullBlock) {
    recompute.skips_tails = false;
  }
  if (!is_on) recompute.granularity = SimumaxGranularity::kNone;
  ReadMegatron(fields, recompute);
  if (!recompute.name.empty() && recompute.layers > 0 && !is_on) {
    fields.Warn(kGranularity,
                "recompute_granularity has no effect: enable_recompute is "
                "false");
  }
  if (recompute.layers == 0) recompute.granularity = SimumaxGranularity::kNone;
}

}  // namespace

absl::StatusOr<SimumaxStrategy> ParseSimumaxStrategy(std::string_view file,
                                                     std::string_view contents,
                                                     Warnings* warnings) {
  YamlDocument document(file, contents);
  ToolFields fields(file, document.Root("a strategy of SimuMax"), warnings);
  SimumaxStrategy strategy;
  strategy.file = file;
  ReadSizes(fields, strategy);
  strategy.sequence_parallel = fields.Flag("enable_sequence_parallel", true);
  ReadPrecision(fields, strategy);
  ReadMemory(fields, strategy);
  ReadRecompute(fields, strategy.recompute);
  strategy.fused_loss = fields.Flag("cross_entropy_loss_fusion", false);
  strategy.sends_probabilities = fields.Flag("dispatch_probs", false);
  strategy.has_stragglers = fields.Flag("enable_straggler_model", true);
  strategy.sparse_share =
      fields.Number("attention_sparse_ratio", {.min = 0, .max = 0.999}, 0.0);
  CheckFixed(fields);
  WarnOfIdle(fields);
  if (document.status().ok() && CheckGroups(fields, strategy)) {
    CheckPositions(fields, strategy);
    CheckChunks(fields, strategy);
    if (strategy.micro_batches < strategy.pipeline) {
      fields.Warn("micro_batch_num",
                  fmt::format("micro_batch_num {} is below pp_size {}: SimuMax "
                              "gives the first stage the memory of {} "
                              "micro-batches",
                              strategy.micro_batches, strategy.pipeline,
                              strategy.pipeline));
    }
  } else {
    fields.Ignore("pp_comm_async");
  }
  fields.WarnOfOthers();
  if (!document.status().ok()) return document.status();
  constexpr std::string_view kOfModel[] = {"tp_size",  "cp_size",
                                           "pp_size",  "ep_size",
                                           "etp_size", "interleaving_size"};
  for (const std::string_view key : kOfModel) {
    if (fields.Has(key)) strategy.places.emplace(key, fields.Place(key));
  }
  return strategy;
}

}  // namespace astra
