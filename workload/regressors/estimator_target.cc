#include "workload/regressors/estimator_target.h"

#include <filesystem>
#include <iterator>

#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kMost = int64_t{1} << 24;
constexpr int64_t kMostElements = int64_t{1} << 50;

struct Size {
  std::string_view name;
  int64_t EstimatorTarget::*value;
};
constexpr Size kConfig[] = {
    {"pp", &EstimatorTarget::pipeline},
    {"mp", &EstimatorTarget::tensor},
    {"dp", &EstimatorTarget::data},
    {"b", &EstimatorTarget::sequences},
    {"h", &EstimatorTarget::heads},
    {"l", &EstimatorTarget::positions},
    {"dim", &EstimatorTarget::hidden},
    {"steps_per_update", &EstimatorTarget::micro_batches},
    {"gpus_per_node", &EstimatorTarget::gpus_per_node}};

void ReadConfig(YamlFields& fields, EstimatorTarget& target) {
  constexpr std::string_view kKey = "training_config";
  const std::vector<std::string> texts = fields.Texts(kKey);
  if (texts.size() != std::size(kConfig)) {
    fields.Error(kKey, fmt::format("training_config has {} numbers: expected "
                                   "[pp, mp, dp, b, h, l, dim, "
                                   "steps_per_update, gpus_per_node]",
                                   texts.size()));
    return;
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    const absl::StatusOr<int64_t> value =
        ParseInteger(kConfig[i].name, texts[i], 1, kMost);
    if (!value.ok()) {
      fields.Error(kKey, std::string(value.status().message()));
      return;
    }
    target.*kConfig[i].value = *value;
  }
}

// The estimator counts five layers for what the first and the last stage have
// beside their layers, and the last stage must keep one.
void CheckStages(YamlFields& fields, const EstimatorTarget& target) {
  constexpr int64_t kOther = 5, kOfLast = 3;
  if (target.pipeline < 2) {
    fields.Error("training_config", "pp is 1: expected 2 or more");
  } else if ((target.layers + kOther) / target.pipeline <= kOfLast) {
    fields.Error("encoders",
                 fmt::format("encoders is {}: too few for {} stages, the first "
                             "and the last of which count for 5 more",
                             target.layers, target.pipeline));
  }
}

}  // namespace

absl::StatusOr<EstimatorTarget> ParseEstimatorTarget(std::string_view file,
                                                     std::string_view contents,
                                                     std::string_view base) {
  YamlDocument document(file, contents);
  YamlFields fields = document.Root("a target");
  EstimatorTarget target;
  const std::filesystem::path folder(base);
  target.gpu = fields.Text("gpu_name");
  target.operator_folder = (folder / fields.Text("operator_data_folder"))
                               .lexically_normal()
                               .string();
  target.nccl_folder =
      (folder / fields.Text("nccl_data_folder")).lexically_normal().string();
  ReadConfig(fields, target);
  target.bucket = fields.Integer("comm_bucket", 1, kMostElements);
  target.layers = fields.Integer("encoders", 1, kMost);
  fields.Texts("function_list");
  target.layer_operators = fields.Texts("encoder_function_list");
  if (target.layer_operators.empty()) {
    fields.Error("encoder_function_list", "no encoder_function_list");
  }
  target.last_norm = fields.Text("layernorm_name");
  target.forward_syncs = fields.Integer("fwd_syncs", 0, kMost);
  target.backward_syncs = fields.Integer("bwd_syncs", 0, kMost);
  fields.Close();
  if (document.status().ok()) CheckStages(fields, target);
  ASTRA_RETURN_IF_ERROR(document.status());
  return target;
}

}  // namespace astra
