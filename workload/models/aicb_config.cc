#include "workload/models/aicb_config.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "fmt/core.h"
#include "workload/models/hugging_face_config.h"

namespace astra {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 32;

// Reads the keys of AICB's DeepSeek file.
class AicbReader {
 public:
  AicbReader(YamlFields& fields, ModelSpec model)
      : fields_(fields), model_(std::move(model)) {}

  ModelSpec Read() {
    Set("num_layers", &model_.layers);
    Set("hidden_size", &model_.hidden);
    Set("vocab_size", &model_.vocabulary);
    auto& attention = std::get<LatentAttention>(model_.attention);
    Set("head_num", &attention.heads);
    Set("num_attention_heads", &attention.heads);
    Set("d_q_c", &attention.q_lora_rank, 0);
    Set("d_kv_c", &attention.kv_lora_rank);
    Set("d_q", &attention.nope_head_dim);
    Set("d_r", &attention.rope_head_dim);
    Set("d_kv", &attention.v_head_dim);
    Experts& experts = *model_.experts;
    const Experts before = experts;
    Set("dense_layer", &experts.dense_layers, 0);
    Set("router_expert", &experts.experts);
    Set("num_experts", &experts.experts);
    Set("moe_router_topk", &experts.top_k);
    RemoveGroupsIfChanged(before, experts);
    Set("expert_dim", &experts.ffn);
    int64_t shared = 1;
    Set("shared_experts", &shared, 0);
    constexpr int64_t kMaxShared = 1000;  // Keeps the product in range.
    experts.shared_ffn = std::min(shared, kMaxShared) * experts.ffn;
    return std::move(model_);
  }

  void WarnOfOthers(const std::string& file, Warnings* warnings) {
    for (const std::string& key : fields_.keys()) {
      // duped_expert follows from num_experts and has no effect on sizes.
      if (known_.count(key) > 0 || key == "duped_expert") continue;
      const YamlValue& value = *fields_.Value(key);
      warnings->push_back(fmt::format("{}:{}:{}: {} is left out", file,
                                      value.line, value.column, Quoted(key)));
    }
  }

 private:
  void Set(std::string_view key, int64_t* value, int64_t min = 1) {
    known_.emplace(key);
    *value = fields_.IntegerOr(key, *value, min, kMaxSize);
  }

  YamlFields& fields_;
  ModelSpec model_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace

absl::StatusOr<ModelSpec> ReadAicbConfig(const std::string& path,
                                         const ModelSpec& base,
                                         Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  YamlDocument document(path, contents);
  YamlFields fields = document.Root("the configuration");
  ASTRA_RETURN_IF_ERROR(document.status());
  if (!fields.has("d_kv_c")) {
    return ParseHuggingFaceConfig(path, contents, warnings);
  }
  if (!std::holds_alternative<LatentAttention>(base.attention) ||
      !base.experts) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: d_kv_c describes latent attention, which {} does not have", path,
        base.name));
  }
  AicbReader reader(fields, base);
  ModelSpec model = reader.Read();
  ASTRA_RETURN_IF_ERROR(document.status());
  reader.WarnOfOthers(path, warnings);
  model.published_parameters.reset();
  if (const absl::Status status = CheckModel(model); !status.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {}", path, std::string(status.message())));
  }
  return model;
}

}  // namespace astra
