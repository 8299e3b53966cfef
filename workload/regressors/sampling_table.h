// Reads the sampling tables of the training-time estimator (ICICLE,
// estimate-train-time): how long operators of a GPT-NeoX layer took at many
// sizes, and collectives at many numbers of elements.
//
// clang-format off
//   GPU_OPERATOR_PRECISION.csv
//     mp, b, h, l, dim, encoders   sizes, those that the operator has: tensor
//                                  parallelism, sequences, heads, positions,
//                                  hidden size, layers
//     F_dur(us), B_dur(us)         forward and backward; or
//     dur(us)                      of an optimizer
//   GPU_COLLECTIVE_PRECISION.csv, GPU_COLLECTIVE_PRECISION_NODES_GPUS.csv
//     shape                        elements that a rank has
//     nodes, GPUsPerNode
//     dur(us)
// clang-format on
//
// An operator depends on products of these sizes, its features, such as the
// rows and the widths of a product. A table of another operator has its sizes
// as features.
//
// Source: the estimator's layer_input_to_predictor_input.py for the features.

#ifndef WORKLOAD_REGRESSORS_SAMPLING_TABLE_H_
#define WORKLOAD_REGRESSORS_SAMPLING_TABLE_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "workload/regressors/training_set.h"

namespace astra {

// Sizes by the names of their columns.
using SampledSizes = std::map<std::string, double, std::less<>>;

enum class SampledPass : uint8_t { kForward, kBackward, kWhole };
inline constexpr std::array<std::string_view, 3> kSampledPassNames = {
    "forward", "backward", "whole"};

struct SamplingTable {
  std::string name;  // Name of an operator or collective, such as "linear1".
  std::map<SampledPass, TrainingSet> passes;  // One or two.
};

// Returns the features of operator `name` with their names. `sizes` must have
// all that the operator depends on. Of another name, they are the sizes.
std::vector<std::pair<std::string, double>> FeaturesOf(
    std::string_view name, const SampledSizes& sizes);

// Parses a table. The last part of the path `file` names the operator.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what CsvReader refuses,
// missing columns, sizes below 1 and times that are not above 0; "FILE: ..."
// for a name that is not GPU_OPERATOR_PRECISION.csv, and for no rows.
absl::StatusOr<SamplingTable> ParseSamplingTable(std::string_view file,
                                                 std::string_view contents);

}  // namespace astra

#endif  // WORKLOAD_REGRESSORS_SAMPLING_TABLE_H_
