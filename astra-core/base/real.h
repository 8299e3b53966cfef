// Counts in formulas of real numbers.

#ifndef ASTRA_CORE_BASE_REAL_H_
#define ASTRA_CORE_BASE_REAL_H_

#include <cstdint>

namespace astra {

// Returns the count as a real number, which is exact up to 2^53.
constexpr double Real(int64_t count) { return static_cast<double>(count); }

}  // namespace astra

#endif  // ASTRA_CORE_BASE_REAL_H_
