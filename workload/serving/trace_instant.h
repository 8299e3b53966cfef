// Instants on the clock of a trace, which may be seconds since 1970: more than
// a TimePs spans, and with more digits than a double has.

#ifndef WORKLOAD_SERVING_TRACE_INSTANT_H_
#define WORKLOAD_SERVING_TRACE_INSTANT_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "astra-core/base/units.h"

namespace astra {

struct TraceInstant {
  int64_t seconds = 0;
  int64_t picoseconds = 0;  // From 0 to below one second.

  friend auto operator<=>(const TraceInstant&, const TraceInstant&) = default;
};

// Returns the instant of `value`, counted in units of which `per_second` are a
// second, rounded to the nearest picosecond. Requires |value| <= 1e15.
TraceInstant InstantOf(double value, int64_t per_second = 1);

// Parses "2023-11-16 18:17:03.9799600": the Gregorian calendar, UTC, with up to
// 12 decimals; "T" may stand for the space, and "Z" or "+00:00" may follow.
// Returns nothing for any other text.
std::optional<TraceInstant> ParseDateTime(std::string_view text);

// Returns the time from `first` to `then`, which is not before it, divided by
// `speed_up`; nothing if it is more than kMaxServingTime. It is exact if
// speed_up is 1.
std::optional<TimePs> TimeBetween(const TraceInstant& first,
                                  const TraceInstant& then, double speed_up);

}  // namespace astra

#endif  // WORKLOAD_SERVING_TRACE_INSTANT_H_
