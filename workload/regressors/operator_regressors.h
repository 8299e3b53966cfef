// Regressors of the operators and collectives of one GPU, fitted to the
// sampling tables of a folder when they are first asked for.

#ifndef WORKLOAD_REGRESSORS_OPERATOR_REGRESSORS_H_
#define WORKLOAD_REGRESSORS_OPERATOR_REGRESSORS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "workload/regressors/sampling_table.h"
#include "workload/regressors/tree_model.h"

namespace astra {

class OperatorRegressors {
 public:
  // Tables are FOLDER/GPU_NAME_fp16.csv. `warnings` must outlive the object; it
  // gets a line for each time whose features lie outside of the samples.
  OperatorRegressors(std::string folder, std::string gpu, TreeKind kind,
                     Warnings& warnings)
      : folder_(std::move(folder)),
        gpu_(std::move(gpu)),
        kind_(kind),
        warnings_(&warnings) {}

  // Returns the time of an operator in microseconds. Errors: those of ReadFile,
  // ParseSamplingTable and TreeModel; InvalidArgument if its table has no such
  // pass.
  absl::StatusOr<double> TimeUs(std::string_view name, SampledPass pass,
                                const SampledSizes& sizes);

  // Returns the time of a collective of `elements` a rank, over `nodes` of
  // `gpus_per_node` GPUs each, in microseconds. Of the tables for small and for
  // large buffers ("_large"), the one that has this size is used. Errors: those
  // of TimeUs; NotFound if there is no table for these nodes.
  absl::StatusOr<double> CollectiveUs(std::string_view name, int64_t nodes,
                                      int64_t gpus_per_node, double elements);

 private:
  // Values of a feature in the samples.
  struct FeatureRange {
    std::string name;
    double least = 0;
    double most = 0;
  };
  // Trees, and the samples that they were fitted to.
  struct Fitted {
    std::vector<FeatureRange> ranges;  // In the order of the trees' features.
    TreeModel model;
  };

  static std::vector<FeatureRange> RangesOf(const TrainingSet& samples);

  std::string PathOf(std::string_view name) const;
  absl::StatusOr<const Fitted*> Find(const std::string& path, SampledPass pass);
  absl::StatusOr<double> Predict(
      const std::string& path, SampledPass pass,
      const std::vector<std::pair<std::string, double>>& features);

  std::string folder_;
  std::string gpu_;
  TreeKind kind_;
  Warnings* warnings_;
  std::map<std::pair<std::string, SampledPass>, Fitted> fitted_;
};

}  // namespace astra

#endif  // WORKLOAD_REGRESSORS_OPERATOR_REGRESSORS_H_
