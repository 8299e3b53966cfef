// The mlp.csv of Vidur's profiler: the products and the streams of one model's
// layer, one row for each number of tokens and each degree of tensor
// parallelism, times in milliseconds, operands of 2 bytes. The median counts.
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

// Whether the columns are those of this form.
bool IsVidurTable(const CsvReader& csv);

// The samples of a table measured on `gpu`. Warns of columns without use.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what CsvReader refuses, a
// column that is lacking, a value that is none, and sizes that tp does not
// divide.
absl::StatusOr<std::vector<OperatorSample>> ParseVidurTable(
    std::string_view file, std::string_view contents, std::string_view gpu,
    Warnings* warnings);

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_VIDUR_TABLE_H_
