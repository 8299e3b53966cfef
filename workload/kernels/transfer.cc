#include "workload/kernels/transfer.h"

#include <algorithm>
#include <cmath>

namespace astra {

double CarryOver(const CarriedTime& source, double bound_us, double power) {
  const double ratio = bound_us / source.bound_us;
  const double start = std::min(source.floor_us, source.time_us);
  const double work = std::min(source.bound_us, source.time_us - start);
  const double rest = source.time_us - start - work;
  return start + rest * std::pow(ratio, power) + work * ratio;
}

}  // namespace astra
