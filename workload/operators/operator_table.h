// Reads tables of measured operators and recognises their form.
//
// Our own form is CSV with one row for each measurement. The columns may have
// any order. These describe the measurement:
//
//   gpu         the name of the GPU
//   operator    the name of the operator
//   precision   fp32, bf16 or fp8; fp16 counts as bf16
//   time_us     time of one run in microseconds, above 0
//   source      optional: where, when and with what it was measured
//
// The other columns describe the shape. The cells that a row fills tell which
// kind of operator it is; other cells stay empty, and other columns may be
// missing:
//
//   product     m, n, k; groups (1)
//   attention   batch, queries, keys, heads, kv_heads, qk_dim, v_dim;
//               causal (true), window (0), backward (false)
//   delta rule  batch, queries, heads, qk_dim, v_dim; backward (false)
//   stream      bytes
//
// The value in parentheses is what an empty cell means. operator.h defines the
// sizes. Example:
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

// Largest number of bytes, and largest other size, that a table of measurements
// may hold. A larger value is a mistake.
constexpr int64_t kMaxSampleBytes = int64_t{1} << 60;
constexpr int64_t kMaxSampleSize = int64_t{1} << 40;

// Parses a table in our own form.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what CsvReader refuses,
// an unknown or missing column, a shape that is incomplete or mixed, and an
// invalid value.
absl::StatusOr<OperatorSamples> ParseOperatorTable(std::string_view file,
                                                   std::string_view contents);

// Formats a table in our own form, with all columns.
std::string FormatOperatorTable(absl::Span<const OperatorSample> samples);

// Returns whether the form of a table names the GPU in each row, as ours does.
bool NamesItsGpu(std::string_view file, std::string_view contents);

// Parses a table in any form: our own, Vidur's (vidur_table.h) or the
// estimator's (estimator_table.h). The names of its columns tell the form. The
// last two forms do not name the GPU, so `gpu` does. `file` must be the name of
// the file, which gives the operator in the estimator's form.
//
// Errors: InvalidArgument for a table in none of these forms and for an empty
// `gpu` where one is needed; the errors of the forms.
absl::StatusOr<OperatorSamples> ParseAnyOperatorTable(std::string_view file,
                                                      std::string_view contents,
                                                      std::string_view gpu,
                                                      Warnings* warnings);

// Parses the file `path`. Errors: those of ParseAnyOperatorTable and of
// ReadFile.
absl::StatusOr<OperatorSamples> ReadOperatorTable(const std::string& path,
                                                  std::string_view gpu,
                                                  Warnings* warnings);

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_OPERATOR_TABLE_H_
