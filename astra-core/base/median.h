// The median of times.

#ifndef ASTRA_CORE_BASE_MEDIAN_H_
#define ASTRA_CORE_BASE_MEDIAN_H_

#include "absl/types/span.h"
#include "astra-core/base/units.h"

namespace astra {

// Returns the median of times in ascending order, at least one: of an even
// number the mean of the two in the middle, rounded down.
inline TimePs MedianOf(absl::Span<const TimePs> ascending) {
  const TimePs below = ascending[(ascending.size() - 1) / 2];
  const TimePs above = ascending[ascending.size() / 2];
  return TimePs(below.count() + (above - below).count() / 2);
}

}  // namespace astra

#endif  // ASTRA_CORE_BASE_MEDIAN_H_
