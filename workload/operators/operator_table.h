// Tables of measured operators: our own form, and which form a file has.
//
// Our own is CSV with one row for each measurement and the columns, in any
// order,
//
//   gpu         the name of the GPU
//   operator    the name of the operator
//   precision   fp32, bf16 or fp8; fp16 counts as bf16
//   time_us     of one run, in microseconds, above 0
//   source      optional: where, when and with what it was measured
//
// and those of the shape. Which of these a row fills says what it is; the
// others stay empty or are left out altogether:
//
//   product     m, n, k; groups (1)
//   attention   batch, queries, keys, heads, kv_heads, qk_dim, v_dim;
//               causal (true), window (0), backward (false)
//   delta rule  batch, queries, heads, qk_dim, v_dim; backward (false)
//   stream      bytes
//
// In parentheses: what an empty cell means. operator.h says what each is.
//
//   gpu,operator,precision,groups,m,n,k,bytes,time_us,source
//   H100,qkv_linear,bf16,,4096,12288,4096,,584,nsys 2024.4
//   H100,norm,bf16,,,,,67108864,66.5,nsys 2024.4

#ifndef WORKLOAD_OPERATORS_OPERATOR_TABLE_H_
#define WORKLOAD_OPERATORS_OPERATOR_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/log.h"
#include "workload/operators/measured_operators.h"

namespace astra {

using OperatorSamples = std::vector<OperatorSample>;

// The largest size that a table of measurements may hold, of bytes and of
// anything else. More is a mistake.
constexpr int64_t kMaxSampleBytes = int64_t{1} << 60;
constexpr int64_t kMaxSampleSize = int64_t{1} << 40;

// A table in our own form.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what CsvReader refuses, a
// column that is unknown or lacking, a shape that is incomplete or mixed, and a
// value that is none.
absl::StatusOr<OperatorSamples> ParseOperatorTable(std::string_view file,
                                                   std::string_view contents);

// The same form, with all columns.
std::string FormatOperatorTable(absl::Span<const OperatorSample> samples);

// A table in any form: our own, Vidur's (vidur_table.h) or the estimator's
// (estimator_table.h), which the names of its columns tell. The last two do not
// name the GPU: there it is `gpu`. `file` must be the name of the file, which
// in the estimator's form counts.
//
// Errors: InvalidArgument for a table in none of these forms, for an empty
// `gpu` where one is needed, and those of the forms.
absl::StatusOr<OperatorSamples> ParseAnyOperatorTable(std::string_view file,
                                                      std::string_view contents,
                                                      std::string_view gpu,
                                                      Warnings* warnings);

// ParseAnyOperatorTable of the file `path`. Errors: also those of ReadFile.
absl::StatusOr<OperatorSamples> ReadOperatorTable(const std::string& path,
                                                  std::string_view gpu,
                                                  Warnings* warnings);

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_OPERATOR_TABLE_H_
