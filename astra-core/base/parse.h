// Reads numbers and quantities from text: exactly, whole, and with a message
// that says what was expected. A quantity must carry its unit.
//
// None of the messages says where the text stood; the caller adds that.

#ifndef ASTRA_CORE_BASE_PARSE_H_
#define ASTRA_CORE_BASE_PARSE_H_

#include <cstdint>
#include <limits>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"

namespace astra {

// A whole decimal number from `min` to `max`, both included; "1e3", "1.0" and
// "+1" are none.
//
// Errors: InvalidArgument, with `what` the number is, the text and the range.
absl::StatusOr<int64_t> ParseInteger(
    std::string_view what, std::string_view text, int64_t min = 0,
    int64_t max = std::numeric_limits<int64_t>::max());

// A finite decimal number of at least `min`, such as "48.5" or "1e-3".
//
// Errors: InvalidArgument, as above.
absl::StatusOr<double> ParseNumber(
    std::string_view what, std::string_view text, double min = 0,
    double max = std::numeric_limits<double>::max());

// A rate such as "400Gbps", above zero. Units are those of ns-3's DataRate:
// bps or b/s (bits), Bps or B/s (bytes), with no prefix or k, K, M, G, T
// (powers of 1000) or Ki, Mi, Gi, Ti (powers of 1024).
//
// Errors: InvalidArgument if it is none of these, or not a whole number of bits
// per second.
absl::StatusOr<Bandwidth> ParseBandwidth(std::string_view text);

// A time such as "0.0005ms", zero or more, in s, ms, us, ns or ps.
//
// Errors: InvalidArgument if it is none of these, or not a whole number of
// picoseconds.
absl::StatusOr<TimePs> ParseTime(std::string_view text);

}  // namespace astra

#endif  // ASTRA_CORE_BASE_PARSE_H_
