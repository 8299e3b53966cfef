#include "workload/regressors/operator_regressors.h"

#include <algorithm>

#include "absl/status/status.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {

std::vector<OperatorRegressors::FeatureRange> OperatorRegressors::RangesOf(
    const TrainingSet& samples) {
  std::vector<FeatureRange> ranges;
  for (size_t feature = 0; feature < samples.features.size(); ++feature) {
    const double first = samples.sample(0)[feature];
    ranges.push_back({samples.features[feature], first, first});
    FeatureRange& range = ranges.back();
    for (size_t i = 0; i < samples.size(); ++i) {
      range.least = std::min(range.least, samples.sample(i)[feature]);
      range.most = std::max(range.most, samples.sample(i)[feature]);
    }
  }
  return ranges;
}

std::string OperatorRegressors::PathOf(std::string_view name) const {
  return fmt::format("{}/{}_{}.csv", folder_, gpu_, name);
}

absl::StatusOr<const OperatorRegressors::Fitted*> OperatorRegressors::Find(
    const std::string& path, SampledPass pass) {
  const auto found = fitted_.find({path, pass});
  if (found != fitted_.end()) return &found->second;
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  ASTRA_ASSIGN_OR_RETURN(SamplingTable table,
                         ParseSamplingTable(path, contents));
  const auto samples = table.passes.find(pass);
  if (samples == table.passes.end()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: no times of the {} pass", path,
                    kSampledPassNames[static_cast<size_t>(pass)]));
  }
  ASTRA_ASSIGN_OR_RETURN(TreeModel model,
                         TreeModel::Train(samples->second, kind_));
  const auto made =
      fitted_.emplace(std::pair(path, pass),
                      Fitted{RangesOf(samples->second), std::move(model)});
  return &made.first->second;
}

absl::StatusOr<double> OperatorRegressors::Predict(
    const std::string& path, SampledPass pass,
    const std::vector<std::pair<std::string, double>>& features) {
  ASTRA_ASSIGN_OR_RETURN(const Fitted* const fitted, Find(path, pass));
  std::vector<double> values;
  for (const FeatureRange& range : fitted->ranges) {
    const auto feature = std::find_if(
        features.begin(), features.end(),
        [&](const auto& each) { return each.first == range.name; });
    if (feature == features.end()) {
      return absl::InvalidArgumentError(fmt::format(
          "{}: times depend on {}, which is not known", path, range.name));
    }
    const double value = feature->second;
    values.push_back(value);
    if (value >= range.least && value <= range.most) continue;
    warnings_->push_back(fmt::format(
        "{}: {} is {:.0f}, and samples have {:.0f} to {:.0f}: the time is that "
        "of the nearest",
        path, range.name, value, range.least, range.most));
  }
  return fitted->model.PredictUs(values);
}

absl::StatusOr<double> OperatorRegressors::TimeUs(std::string_view name,
                                                  SampledPass pass,
                                                  const SampledSizes& sizes) {
  return Predict(PathOf(fmt::format("{}_fp16", name)), pass,
                 FeaturesOf(name, sizes));
}

absl::StatusOr<double> OperatorRegressors::CollectiveUs(std::string_view name,
                                                        int64_t nodes,
                                                        int64_t gpus_per_node,
                                                        double elements) {
  std::string last;
  for (const std::string_view size : {"", "_large"}) {
    const std::string path = PathOf(
        fmt::format("{}{}_fp16_{}_{}", name, size, nodes, gpus_per_node));
    if (!Exists(path)) continue;
    last = path;
    ASTRA_ASSIGN_OR_RETURN(const Fitted* const fitted,
                           Find(path, SampledPass::kWhole));
    const auto shape = std::find_if(
        fitted->ranges.begin(), fitted->ranges.end(),
        [](const FeatureRange& range) { return range.name == "shape"; });
    if (shape != fitted->ranges.end() && elements <= shape->most) break;
  }
  if (last.empty()) {
    return absl::NotFoundError(
        fmt::format("{}: no table of {} over {} nodes of {} GPUs", folder_,
                    name, nodes, gpus_per_node));
  }
  return Predict(last, SampledPass::kWhole,
                 {{"shape", elements},
                  {"nodes", static_cast<double>(nodes)},
                  {"GPUsPerNode", static_cast<double>(gpus_per_node)}});
}

}  // namespace astra
