// Reads durations as people write them, and the file of the failures of a
// cluster:
//
//   simai_failures: 1
//   failures:
//     - {name: gpu, per_gpu: 110000h, restart: 15min}
//     - {name: network, mean: 40h, restart: 5min}
//
// docs/guide/goodput.md has all keys.

#ifndef ASTRA_CORE_GOODPUT_FAILURES_FILE_H_
#define ASTRA_CORE_GOODPUT_FAILURES_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/goodput/goodput.h"

namespace astra {

// Parses a time such as "30s", "15min", "110000h" or "54d"; also ms. Returns
// seconds.
//
// Errors: InvalidArgument, which quotes the text.
absl::StatusOr<double> ParseDuration(std::string_view text);

// Returns text such as "15 min" or "2.5 h".
std::string DurationText(double seconds);

// Parses `contents`; `file` names it in messages. Failures that are given by
// GPU come `num_gpus` times as often.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ...".
absl::StatusOr<std::vector<FailureKind>> ParseFailures(
    std::string_view file, std::string_view contents, int64_t num_gpus);

}  // namespace astra

#endif  // ASTRA_CORE_GOODPUT_FAILURES_FILE_H_
