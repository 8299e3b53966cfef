#include "collectives/nccl/sized_time.h"

#include <algorithm>
#include <cmath>

#include "collectives/closed_form.h"

namespace astra {

double SizedTime::LatencyUs(Bytes bytes) const {
  const auto size = static_cast<double>(bytes.count());
  return latency_us + spread_us * size / (size + spread_bytes);
}

double SizedTime::WireUs(Bytes bytes) const {
  const auto size = static_cast<double>(bytes.count());
  return std::max(least_wire_us, ps_per_byte * size / kPsPerUs) +
         ramp_us * size / (size + ramp_bytes) + CopyUs(bytes);
}

double SizedTime::CopyUs(Bytes bytes) const {
  return copy_ps_per_byte * static_cast<double>(bytes.count()) / kPsPerUs;
}

TimePs SizedTime::TimeOf(Bytes bytes) const {
  const double ps =
      std::max(launch_us, LatencyUs(bytes) + WireUs(bytes)) * kPsPerUs;
  if (ps >= static_cast<double>(kMaxCollectiveTime.count())) {
    return kMaxCollectiveTime;
  }
  return TimePs(std::llround(ps));
}

}  // namespace astra
