// Compares predictions with measured points of serving engines.
//
// Each row of a table is a deployment under a closed loop of so many requests
// of one prompt and output length. DIR/comparison.csv gets every column of the
// row and
//
// clang-format off
//   predicted_ttft_ms               empty where the row is not predicted
//   predicted_tpot_ms
//   predicted_throughput_tok_s_gpu  concurrency x osl / (ttft + tpot x (osl - 1)) / gpus
//   ttft_error_pct                  signed: above 0, the prediction is too long
//   tpot_error_pct
//   status                          "ok", with what was assumed, or why there is no prediction
// clang-format on
//
// Columns that are read: model, gpu, tp, pp, ep, dp, framework ("vllm 0.12.0"),
// precision, isl, osl, concurrency, ttft_ms, tpot_ms, notes, mode, source. A
// release older than all in the engine's file counts as the oldest. Of rows
// with dp, tp is that of each rank of data-parallel attention. With mode
// "disagg", prefill_ and decode_ of workers, tp, pp, ep and dp say what
// computes prompts and what decodes; KV caches move whole, each by itself.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_COMPARE_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_COMPARE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace astra {

// Most requests of a point, and most output tokens of one after the other, that
// are served to predict it: hours of a server, and seconds here.
struct PointLimits {
  int64_t requests = 1'000'000;
  int64_t output_tokens = 10'000'000;
};

struct ServingComparison {
  std::string csv;  // comparison.csv
  size_t rows = 0;
  size_t predicted = 0;
};

// Errors: those of CsvReader, and InvalidArgument for a column that is missing.
// A row that cannot be predicted has the reason in its status.
absl::StatusOr<ServingComparison> CompareServing(
    std::string_view file, std::string_view contents,
    const PointLimits& limits = {});

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_COMPARE_H_
