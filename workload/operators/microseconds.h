// Converts times of measurement tables, which are in decimal microseconds.

#ifndef WORKLOAD_OPERATORS_MICROSECONDS_H_
#define WORKLOAD_OPERATORS_MICROSECONDS_H_

#include <cmath>
#include <cstdint>
#include <string>

#include "astra-core/base/units.h"
#include "fmt/core.h"

namespace astra {

// Longest time in a table. A larger value is a mistake of units; up to this one
// a double represents every picosecond.
constexpr double kMaxMicroseconds = 1e9;

// Shortest time above zero.
constexpr double kMinMicroseconds = 1e-6;

// Rounds to the nearest picosecond.
inline TimePs FromMicroseconds(double us) {
  return TimePs(std::llround(us * 1e6));
}

// Returns all digits without trailing zeros, such as "0.0015" or "20". Requires
// time >= 0.
inline std::string MicrosecondsText(TimePs time) {
  constexpr int64_t kPs = 1'000'000;
  std::string text =
      fmt::format("{}.{:06}", time.count() / kPs, time.count() % kPs);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_MICROSECONDS_H_
