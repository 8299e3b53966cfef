// Requests as Vidur generates them: the same ones for the same seed, but for
// gamma intervals and Zipf lengths, whose distributions are the same and whose
// numbers are not.
//
// clang-format off
//   intervals  poisson  -ln(1 - u) / qps, at most 3 / qps
//              gamma    of mean 1 / qps, with deviation cv / qps
//              static   none: all requests arrive at once
//   lengths    fixed, uniform, zipf
//              trace    the rows of a file in random order
//   replay     the rows of a file at their times
// clang-format on
//
// A length is cut to max_tokens: of a trace of lengths in proportion, of a
// replayed trace at the prompt.
//
// Source: Vidur (microsoft/vidur, MIT), vidur/request_generator.

#ifndef WORKLOAD_VIDUR_VIDUR_REQUESTS_H_
#define WORKLOAD_VIDUR_VIDUR_REQUESTS_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "workload/serving/request.h"

namespace astra {

enum class VidurIntervals : uint8_t { kPoisson, kGamma, kStatic };
inline constexpr std::array<std::string_view, 3> kVidurIntervals = {
    "poisson", "gamma", "static"};

enum class VidurLengths : uint8_t { kFixed, kUniform, kZipf, kTrace };
inline constexpr std::array<std::string_view, 4> kVidurLengths = {
    "fixed", "uniform", "zipf", "trace"};

// A row of a trace.
struct VidurTraceRow {
  double arrived_at = 0;  // Seconds; 0 in a file without times.
  int64_t prefill_tokens = 0;
  int64_t decode_tokens = 0;
};

// Reads num_prefill_tokens, num_decode_tokens and, with `has_times`,
// arrived_at. Errors: those of CsvReader; InvalidArgument for a file without
// rows.
absl::StatusOr<std::vector<VidurTraceRow>> ParseVidurTrace(
    std::string_view file, std::string_view contents, bool has_times,
    Warnings* warnings);

struct VidurLoad {
  VidurIntervals intervals = VidurIntervals::kPoisson;
  double qps = 0.5;
  double cv = 0.5;

  VidurLengths lengths = VidurLengths::kFixed;
  int64_t prefill_tokens = 2048;  // fixed.
  int64_t decode_tokens = 512;
  int64_t min_tokens = 1024;  // uniform, zipf.
  int64_t max_tokens = 4096;
  double prefill_to_decode = 20;
  double theta = 0.6;  // zipf.

  std::vector<VidurTraceRow> trace;  // trace; replay.
  double prefill_scale = 1;
  double decode_scale = 1;
  double time_scale = 1;     // replay.
  uint32_t order_seed = 42;  // Of the order of a trace of lengths.

  int64_t count = 128;
  double duration_s = 0;  // Instead of the count, if above 0.
  uint32_t seed = 42;
};

// Returns requests sorted by arrival. Errors: InvalidArgument for a trace with
// fewer rows than requests, and for arrivals beyond kMaxServingTime; those of
// LengthGenerator.
absl::StatusOr<std::vector<Request>> DrawVidurRequests(const VidurLoad& load);

// Returns the rows of `load.trace` at their times. Errors: InvalidArgument for
// arrivals beyond kMaxServingTime.
absl::StatusOr<std::vector<Request>> ReplayVidurTrace(const VidurLoad& load);

}  // namespace astra

#endif  // WORKLOAD_VIDUR_VIDUR_REQUESTS_H_
