// Parses numbers and quantities. The whole text must match exactly, and a
// quantity must carry its unit. Messages say what was expected, but not where
// the text stood; the caller adds the place.

#ifndef ASTRA_CORE_BASE_PARSE_H_
#define ASTRA_CORE_BASE_PARSE_H_

#include <cstdint>
#include <limits>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"

namespace astra {

// Parses a whole decimal number from `min` to `max`, both included. "1e3",
// "1.0" and "+1" are not whole numbers.
//
// Errors: InvalidArgument with the name `what`, the text and the range.
absl::StatusOr<int64_t> ParseInteger(
    std::string_view what, std::string_view text, int64_t min = 0,
    int64_t max = std::numeric_limits<int64_t>::max());

// Parses a finite decimal number from `min` to `max`, such as "48.5" or "1e-3".
//
// Errors: InvalidArgument with the name `what`, the text and the range.
absl::StatusOr<double> ParseNumber(
    std::string_view what, std::string_view text, double min = 0,
    double max = std::numeric_limits<double>::max());

// Parses a rate above zero, such as "400Gbps". The units are those of ns-3's
// DataRate: bps or b/s (bits), Bps or B/s (bytes), with no prefix or k, K, M,
// G, T (powers of 1000) or Ki, Mi, Gi, Ti (powers of 1024).
//
// Errors: InvalidArgument if the text is no such rate, or not a whole number of
// bits per second.
absl::StatusOr<Bandwidth> ParseBandwidth(std::string_view text);

// Parses a time of zero or more, such as "0.0005ms", in s, ms, us, ns or ps.
//
// Errors: InvalidArgument if the text is no such time, or not a whole number of
// picoseconds.
absl::StatusOr<TimePs> ParseTime(std::string_view text);

}  // namespace astra

#endif  // ASTRA_CORE_BASE_PARSE_H_
