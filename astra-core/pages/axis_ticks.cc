#include "astra-core/pages/axis_ticks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fmt/core.h"

namespace astra {

double AxisTicks::At(double value) const {
  return (value - values.front()) / (values.back() - values.front());
}

std::string AxisTicks::Text(double value) const {
  return fmt::format("{:.{}f}", value, decimals);
}

AxisTicks RoundTicks(double low, double high, int steps) {
  if (high <= low) {  // One value: a tenth of it on both sides.
    const double margin = low == 0 ? 1 : 0.05 * std::abs(low);
    low -= margin;
    high += margin;
  }
  const double span = high - low;
  const double exponent = std::floor(std::log10(span / steps));
  const double power = std::pow(10, exponent);
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power * steps < span) continue;
    step = factor * power;
    break;
  }
  const auto first = static_cast<int64_t>(std::floor(low / step));
  const auto last = static_cast<int64_t>(std::ceil(high / step));
  AxisTicks ticks;
  ticks.decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step))));
  for (int64_t i = first; i <= last; ++i) {
    ticks.values.push_back(static_cast<double>(i) * step);
  }
  return ticks;
}

}  // namespace astra
