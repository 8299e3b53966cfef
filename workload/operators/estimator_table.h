// Reads the operator tables of the ICICLE training-time estimator
// (estimate-train-time). Each operator of a GPT-NeoX layer has a CSV file named
// GPU_OPERATOR_PRECISION.csv. Its columns are, as far as the operator depends
// on them, mp (tensor parallelism), b (sequences), h (heads), l (positions),
// dim (hidden size), and the times of the forward and the backward pass,
// F_dur(us) and B_dur(us). The operators mean:
//
//   linear1, linear3      product of b l x dim x 3 dim / mp, x 4 dim / mp
//   linear2, linear4      product of b l x dim / mp x dim, 4 dim / mp x dim
//   linear_final          product of b l x dim x V, where V is the part of the
//                         vocabulary of 50257, padded to 128 mp, of one GPU
//   flash_atten           attention of h / mp heads of dim / h, without a mask:
//                         as causal attention, the largest shapes would reach
//                         half of what FlashAttention-2 does (104 TFLOP/s of
//                         some 190 on an A100 with heads of 128)
//   embedding             a row read, a row written
//   layernorm             "layer_norm": read once, written once; backward, two
//                         operands and one result
//   RMSlayernorm          "rms_norm", likewise
//   gelu                  likewise, of 4 dim / mp
//   RoPE                  "rope": one tensor, read once and written once
//   res_add               "residual_add": two operands, one result
//   parallel_cross_entropy_128
//                         "cross_entropy" in FP32: V logits for each position,
//                         13 times 2 bytes; backward, 5 times
//
// Operands have 2 bytes, or those of the precision. A stream of the backward
// pass has the name of the forward stream. These parts of the tables are left
// out:
//
//   - the backward pass of products: the tables give one time for two products;
//   - the backward pass of the embedding, which clears all gradients;
//   - the backward pass of res_add, which repeats the forward one;
//   - with a warning, a backward pass of attention that is faster than the
//     forward one, though it has 2.5 times the FLOPs;
//   - with a warning, the files of all other operators.
//
// Source: the estimator's repository, ICICLE-ai/distributed_training_estimator,
// layer_input_to_predictor_input.py for the shapes.

#ifndef WORKLOAD_OPERATORS_ESTIMATOR_TABLE_H_
#define WORKLOAD_OPERATORS_ESTIMATOR_TABLE_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/csv_reader.h"
#include "astra-core/base/log.h"
#include "workload/operators/measured_operators.h"

namespace astra {

// Returns whether the columns are those of an estimator table.
bool IsEstimatorTable(const CsvReader& csv);

// Returns the samples of a table measured on `gpu`. For an operator that is not
// listed above, returns none and warns. The last part of the path `file` gives
// the operator and the precision.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what CsvReader refuses, a
// missing column, an invalid value, and sizes that do not divide; "FILE: ..."
// for a name that is not GPU_OPERATOR_PRECISION.csv.
absl::StatusOr<std::vector<OperatorSample>> ParseEstimatorTable(
    std::string_view file, std::string_view contents, std::string_view gpu,
    Warnings* warnings);

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_ESTIMATOR_TABLE_H_
