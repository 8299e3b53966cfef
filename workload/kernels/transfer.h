// Carries the time of a kernel over to a GPU that has no tables.

#ifndef WORKLOAD_KERNELS_TRANSFER_H_
#define WORKLOAD_KERNELS_TRANSFER_H_

namespace astra {

// The time of a kernel where it was measured.
struct CarriedTime {
  double time_us = 0;
  // At the peaks of that GPU, or at what it reaches of them.
  double bound_us = 0;
  double floor_us = 0;  // Least time of the surface.
};

// Returns microseconds on a GPU where the bound is `bound_us`. With the ratio
// r of the two bounds, a time is made of three parts: the start of the kernel,
// which stays; work at the peaks, which scales by r; and the rest, which
// scales by r^power, since what keeps a kernel from its peaks (latencies, waves
// of tiles) changes less than the peaks:
//
//   W = min(bound of the source, time - floor)
//   min(floor, time) + (time - floor - W) r^power + W r
double CarryOver(const CarriedTime& source, double bound_us, double power);

}  // namespace astra

#endif  // WORKLOAD_KERNELS_TRANSFER_H_
