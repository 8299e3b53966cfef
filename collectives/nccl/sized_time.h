// Time of a collective as a function of its size, once NCCL has chosen.

#ifndef COLLECTIVES_NCCL_SIZED_TIME_H_
#define COLLECTIVES_NCCL_SIZED_TIME_H_

#include <compare>

#include "astra-core/base/units.h"

namespace astra {

// A byte takes so many picoseconds at 1 GB/s.
inline constexpr double kPsPerByteAndGBps = 1000;

// Time of one algorithm and protocol as a function of the size.
struct SizedTime {
  double launch_us = 0;
  double latency_us = 0;  // Latency of the smallest buffers.
  double spread_us = 0;   // Latency that large buffers have besides.
  double spread_bytes = 1;
  double ps_per_byte = 0;
  double least_wire_us = 0;     // Least time of all bytes.
  double copy_ps_per_byte = 0;  // Time for each byte to copy buffers.
  double ramp_us = 0;
  double ramp_bytes = 1;

  // Returns the time, rounded to a picosecond; at most kMaxCollectiveTime.
  TimePs TimeOf(Bytes bytes) const;

  // Return the two parts of the time, in microseconds: what messages take
  // whatever their size, and what goes with the bytes, of which a part is the
  // copying.
  double LatencyUs(Bytes bytes) const;
  double WireUs(Bytes bytes) const;
  double CopyUs(Bytes bytes) const;

  friend auto operator<=>(const SizedTime&, const SizedTime&) = default;
};

}  // namespace astra

#endif  // COLLECTIVES_NCCL_SIZED_TIME_H_
