// The model of SimuMax; see simumax_files.h.

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/names.h"
#include "astra-core/planner/simumax/simumax_files.h"
#include "astra-core/planner/simumax/tool_fields.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr IntegerRange kSize = {.min = 1, .max = int64_t{1} << 24};

void ReadExperts(ToolFields& fields, SimumaxModel& model) {
  constexpr IntegerRange kExperts = {.min = 1, .max = 1 << 16};
  model.experts = fields.Integer("expert_num", kExperts, 1);
  model.top_k = fields.Integer("topk", kExperts, 0);
  model.expert_ffn = fields.Integer("moe_ffn_hidden_size", kSize, model.ffn);
  model.shared_ffn =
      fields.Integer("moe_shared_expert_intermediate_size", kSize, 0);
  model.dense_layers =
      fields.Integer("dense_layers", {.min = 0, .max = kSize.max}, 0);
  model.capacity = fields.Number("capacity", {.min = 0.01, .max = 100}, 1.0);
  model.pads_experts = fields.Flag("moe_pad_expert_input_to_capacity", true);
  const std::string mode = fields.Text("group_linear_mode", "parallel");
  if (mode != "parallel") {
    fields.Error("group_linear_mode",
                 fmt::format("group_linear_mode is {}: expected \"parallel\"; "
                             "products of one expert after the other are not "
                             "timed",
                             Quoted(mode)));
  }
  const std::string type = model.experts > 1 ? "moe" : "dense";
  const std::string given = fields.Text("model_type", type);
  constexpr std::string_view kTypes[] = {"dense", "moe"};
  if (std::find(std::begin(kTypes), std::end(kTypes), given) ==
      std::end(kTypes)) {
    fields.Error("model_type", UnknownName("model_type", given, kTypes));
  }
  model.is_moe = given == "moe";
  if (model.experts > 1 && model.top_k == 0) {
    fields.Error("topk", "the model has experts and no \"topk\"");
  }
  if (model.top_k > model.experts) {
    fields.Error("topk",
                 fmt::format("topk is {}: expected at most the {} experts of "
                             "expert_num",
                             model.top_k, model.experts));
  }
  if (model.dense_layers > model.layers) {
    fields.Error("dense_layers",
                 fmt::format("dense_layers is {}: expected at most the {} of "
                             "layer_num",
                             model.dense_layers, model.layers));
  }
}

void ReadAttention(ToolFields& fields, SimumaxModel& model) {
  constexpr std::string_view kTypes[] = {"mha", "mla"};
  const std::string type = fields.Text("attention_type", "mha");
  if (std::find(std::begin(kTypes), std::end(kTypes), type) ==
      std::end(kTypes)) {
    fields.Error("attention_type", UnknownName("attention_type", type, kTypes));
  }
  model.is_latent = type == "mla";
  model.heads = fields.Integer("head_num", kSize);
  model.kv_heads = fields.Integer("kv_head_num", kSize, model.heads);
  if (model.is_latent) {
    model.head_size = fields.Integer("head_size", kSize, 0);
    model.q_lora_rank = fields.Integer("q_lora_rank", kSize, 0);
    model.kv_lora_rank = fields.Integer("kv_lora_rank", kSize);
    model.nope_head_dim = fields.Integer("qk_head_dim", kSize);
    model.rope_head_dim = fields.Integer("qk_pos_emb_head_dim", kSize);
    model.v_head_dim = fields.Integer("v_head_dim", kSize);
    return;
  }
  model.head_size = fields.Integer("head_size", kSize);
  for (const std::string_view key :
       {"q_lora_rank", "kv_lora_rank", "qk_head_dim", "qk_pos_emb_head_dim",
        "v_head_dim"}) {
    if (!fields.Has(key)) continue;
    fields.Warn(
        key, fmt::format("{} has no effect: attention_type is not mla", key));
  }
  if (model.kv_heads > 0 && model.heads % model.kv_heads != 0) {
    fields.Error("kv_head_num",
                 fmt::format("kv_head_num is {}: expected a divisor of the {} "
                             "heads of head_num{}",
                             model.kv_heads, model.heads,
                             NearestDivisors(model.kv_heads, model.heads)));
  }
}

}  // namespace

absl::StatusOr<SimumaxModel> ParseSimumaxModel(std::string_view file,
                                               std::string_view contents,
                                               Warnings* warnings) {
  YamlDocument document(file, contents);
  ToolFields fields(file, document.Root("a model of SimuMax"), warnings);
  SimumaxModel model;
  model.file = file;
  model.name = fields.Text("model_name", "model");
  model.hidden = fields.Integer("hidden_size", kSize);
  model.ffn = fields.Integer("intermediate_size", kSize);
  model.layers = fields.Integer("layer_num", kSize);
  model.vocabulary = fields.Integer("vocab_size", kSize);
  // What SimuMax pads, where vocab_size was padded before.
  model.vocabulary = fields.Integer("orig_vocab_size", kSize, model.vocabulary);
  model.gated = fields.Flag("use_swiglu", false);
  model.pads_vocabulary = fields.Flag("padded_vocab_size", true);
  model.vocabulary_divisor =
      fields.Integer("make_vocab_size_divisible_by", kSize, 128);
  ReadAttention(fields, model);
  ReadExperts(fields, model);
  fields.WarnOfOthers();
  if (!document.status().ok()) return document.status();
  return model;
}

}  // namespace astra
