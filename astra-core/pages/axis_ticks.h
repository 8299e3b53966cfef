// Round numbers for the axes of plots.

#ifndef ASTRA_CORE_PAGES_AXIS_TICKS_H_
#define ASTRA_CORE_PAGES_AXIS_TICKS_H_

#include <string>
#include <vector>

namespace astra {

// The ticks of an axis: round numbers, the first at or below all values and the
// last at or above them.
struct AxisTicks {
  std::vector<double> values;
  int decimals = 0;  // Digits behind the point that tell the ticks apart.

  // Returns the place of `value`: 0 at the first tick and 1 at the last.
  double At(double value) const;
  std::string Text(double value) const;
};

// Returns ticks at equal distances of 1, 2 or 5 times a power of ten, about
// `steps` of them from `low` to `high`. Requires finite numbers, low <= high.
AxisTicks RoundTicks(double low, double high, int steps);

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_AXIS_TICKS_H_
