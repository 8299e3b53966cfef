// Reads the mlp.csv of Vidur's profiler: the products and streams of one
// model's layer. There is one row for each number of tokens and each degree of
// tensor parallelism. Times are in milliseconds, operands have 2 bytes, and the
// median is used.
//
//   column time_stats.*.median        sample
//   attn_pre_proj    product of n_embd x (n_head + 2 n_kv_head) head_dim / tp
//   attn_post_proj   product of n_embd / tp x n_embd
//   mlp_up_proj      product of n_embd x n_expanded_embd / tp, twice as wide
//                    with use_gated_mlp
//   mlp_down_proj    product of n_expanded_embd / tp x n_embd
//   emb              stream "embedding": a row read, a row written
//   input_layernorm, post_attention_layernorm
//                    stream "rms_norm": read once, written once
//   attn_rope        stream "rope": queries and keys read and written
//   mlp_act          stream "swiglu" or, without use_gated_mlp, "gelu": two
//                    operands or one, one result
//   add              stream "residual_add": two operands, one result
//
// Source: A. Agrawal et al., "Vidur", MLSys 2024, arXiv 2405.05465; its
// repository microsoft/vidur, vidur/profiling/mlp.

#ifndef WORKLOAD_OPERATORS_VIDUR_TABLE_H_
#define WORKLOAD_OPERATORS_VIDUR_TABLE_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/csv_reader.h"
#include "astra-core/base/log.h"
#include "workload/operators/measured_operators.h"

namespace astra {

// Returns whether the columns are those of a Vidur table.
bool IsVidurTable(const CsvReader& csv);

// Returns the samples of a table measured on `gpu`. Warns of unused columns.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what CsvReader refuses, a
// missing column, an invalid value, and sizes that tp does not divide.
absl::StatusOr<std::vector<OperatorSample>> ParseVidurTable(
    std::string_view file, std::string_view contents, std::string_view gpu,
    Warnings* warnings);

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_VIDUR_TABLE_H_
