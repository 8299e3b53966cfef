// Reads a target of the training-time estimator (ICICLE, estimate-train-time):
// the layout and the sizes of a training run of a GPT-NeoX, and the folders of
// the tables to which its regressors are fitted. It is YAML such as
//
//   gpu_name: NVIDIAA100-SXM4-80GB
//   operator_data_folder: ./operator     # Relative to `base`.
//   nccl_data_folder: ./nccl
//   # pp, mp, dp, b, h, l, dim, steps_per_update, gpus_per_node
//   training_config: [8, 4, 4, 4, 64, 2048, 6144, 16, 4]
//   comm_bucket: 1260000000              # Elements of one call of DP.
//   encoders: 44
//   function_list: [embedding, layernorm, linear1, ...]
//   encoder_function_list: [layernorm, linear1, ...]   # Functions of a layer.
//   layernorm_name: layernorm            # Behind the last layer.
//   fwd_syncs: 2                         # All-reduces of MP in a layer.
//   bwd_syncs: 2
//
// Source: the estimator's examples and README.

#ifndef WORKLOAD_REGRESSORS_ESTIMATOR_TARGET_H_
#define WORKLOAD_REGRESSORS_ESTIMATOR_TARGET_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace astra {

struct EstimatorTarget {
  std::string gpu;
  std::string operator_folder;  // Path that begins with `base`.
  std::string nccl_folder;
  int64_t pipeline = 2;
  int64_t tensor = 1;
  int64_t data = 1;
  int64_t sequences = 1;  // Sequences of a micro-batch.
  int64_t heads = 1;
  int64_t positions = 1;
  int64_t hidden = 1;
  int64_t micro_batches = 1;
  int64_t gpus_per_node = 1;
  int64_t bucket = 1;  // Elements.
  int64_t layers = 1;
  std::vector<std::string> layer_operators;
  std::string last_norm;
  int64_t forward_syncs = 0;
  int64_t backward_syncs = 0;
};

// Parses a target whose folders are relative to the folder `base`. Errors:
// InvalidArgument "FILE:LINE:COLUMN: ..." for text that is no YAML, a key that
// is unknown or missing, and a value out of range; fewer than two stages, and
// fewer layers than the estimator's split of them needs.
absl::StatusOr<EstimatorTarget> ParseEstimatorTarget(std::string_view file,
                                                     std::string_view contents,
                                                     std::string_view base);

}  // namespace astra

#endif  // WORKLOAD_REGRESSORS_ESTIMATOR_TARGET_H_
