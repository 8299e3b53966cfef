// Counts times in buckets that are at most 1/1024 of their times wide, so that
// the gaps of any number of tokens take half a megabyte.

#ifndef WORKLOAD_SERVING_TIME_HISTOGRAM_H_
#define WORKLOAD_SERVING_TIME_HISTOGRAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/numeric/int128.h"
#include "astra-core/base/units.h"

namespace astra {

// The usual figures of a quantity in picoseconds.
//
// The percentile p of n sorted values is the one at position (n - 1) * p / 100,
// counted from 0; between two positions it is interpolated linearly, as numpy
// does. All are 0 if there are no values.
struct TimeFigures {
  int64_t count = 0;
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  double max = 0;
};

class TimeHistogram {
 public:
  // Requires time >= 0 and count >= 0.
  void Add(TimePs time, int64_t count);

  // The mean and the largest value are exact. For a percentile, each value is
  // taken to be in the middle of its bucket: it is off by at most 0.05 %.
  TimeFigures Figures() const;

  // Returns the percentiles 0, 1, ... 100 with the same error; empty without
  // times.
  std::vector<double> Percentiles() const;

 private:
  double ValueAt(int64_t position) const;
  double Percentile(double percent) const;

  std::vector<int64_t> counts_;  // Grows as far as needed.
  int64_t count_ = 0;
  absl::int128 sum_ = 0;
  TimePs max_;
};

// Returns the figures of `times`, exactly.
TimeFigures FiguresOf(std::vector<TimePs> times);

// Returns the percentiles 0, 1, ... 100 of `times`, exactly; empty without
// times.
std::vector<double> PercentilesOf(std::vector<TimePs> times);

}  // namespace astra

#endif  // WORKLOAD_SERVING_TIME_HISTOGRAM_H_
