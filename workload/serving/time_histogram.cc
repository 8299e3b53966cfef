#include "workload/serving/time_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "astra-core/base/check.h"

namespace astra {
namespace {

// Times below 2 * kPerOctave have buckets of their own. Above, each doubling of
// the time has kPerOctave buckets.
constexpr int64_t kPerOctave = 1024;

int ShiftOf(int64_t time) {
  constexpr int kExactBits = 11;  // Of 2 * kPerOctave - 1.
  const int bits =
      static_cast<int>(std::bit_width(static_cast<uint64_t>(time)));
  return std::max(0, bits - kExactBits);
}

double MiddleOf(size_t bucket) {
  const int64_t index = static_cast<int64_t>(bucket);
  const int64_t shift = std::max<int64_t>(0, index / kPerOctave - 1);
  const int64_t base = index - shift * kPerOctave;
  return std::ldexp(static_cast<double>(base), static_cast<int>(shift)) +
         (shift > 0 ? std::ldexp(0.5, static_cast<int>(shift)) : 0);
}

// Interpolates between the values at the positions around the percentile.
template <class ValueAt>
double PercentileOf(int64_t count, double percent, const ValueAt& value_at) {
  if (count == 0) return 0;
  const double position = static_cast<double>(count - 1) * percent / 100;
  const int64_t below = static_cast<int64_t>(position);
  const double share = position - static_cast<double>(below);
  const double low = value_at(below);
  return share == 0 ? low : low + share * (value_at(below + 1) - low);
}

// Returns the percentiles 0, 1, ... 100 by `percentile`; none of no values.
template <class Percentile>
std::vector<double> AllPercentiles(int64_t count,
                                   const Percentile& percentile) {
  std::vector<double> all;
  for (int percent = 0; count > 0 && percent <= 100; ++percent) {
    all.push_back(percentile(percent));
  }
  return all;
}

double MeanOf(absl::int128 sum, int64_t count) {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

}  // namespace

void TimeHistogram::Add(TimePs time, int64_t count) {
  ASTRA_CHECK(time >= TimePs(0) && count >= 0, "{} times {}", count, time);
  const int shift = ShiftOf(time.count());
  const size_t bucket =
      static_cast<size_t>(shift * kPerOctave + (time.count() >> shift));
  if (bucket >= counts_.size()) counts_.resize(bucket + 1);
  counts_[bucket] += count;
  count_ += count;
  sum_ += absl::int128(time.count()) * count;
  if (count > 0) max_ = std::max(max_, time);
}

double TimeHistogram::ValueAt(int64_t position) const {
  int64_t before = 0;
  for (size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    before += counts_[bucket];
    if (before > position) return MiddleOf(bucket);
  }
  return static_cast<double>(max_.count());
}

double TimeHistogram::Percentile(double percent) const {
  // The middle of the last bucket may lie above the largest value.
  return std::min(static_cast<double>(max_.count()),
                  PercentileOf(count_, percent, [this](int64_t position) {
                    return ValueAt(position);
                  }));
}

TimeFigures TimeHistogram::Figures() const {
  return {.count = count_,
          .mean = MeanOf(sum_, count_),
          .p50 = Percentile(50),
          .p90 = Percentile(90),
          .p95 = Percentile(95),
          .p99 = Percentile(99),
          .max = static_cast<double>(max_.count())};
}

std::vector<double> TimeHistogram::Percentiles() const {
  return AllPercentiles(count_,
                        [this](double percent) { return Percentile(percent); });
}

std::vector<double> PercentilesOf(std::vector<TimePs> times) {
  std::sort(times.begin(), times.end());
  const int64_t count = static_cast<int64_t>(times.size());
  return AllPercentiles(count, [&](double percent) {
    return PercentileOf(count, percent, [&](int64_t position) {
      return static_cast<double>(times[static_cast<size_t>(position)].count());
    });
  });
}

TimeFigures FiguresOf(std::vector<TimePs> times) {
  std::sort(times.begin(), times.end());
  absl::int128 sum = 0;
  for (const TimePs time : times) sum += time.count();
  const int64_t count = static_cast<int64_t>(times.size());
  const auto percentile = [&](double percent) {
    return PercentileOf(count, percent, [&](int64_t position) {
      return static_cast<double>(times[static_cast<size_t>(position)].count());
    });
  };
  return {.count = count,
          .mean = MeanOf(sum, count),
          .p50 = percentile(50),
          .p90 = percentile(90),
          .p95 = percentile(95),
          .p99 = percentile(99),
          .max = percentile(100)};
}

}  // namespace astra
