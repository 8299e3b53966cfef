#include "astra-core/results/message_times.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "astra-core/base/check.h"
#include "astra-core/base/units.h"

namespace astra {
namespace {

constexpr double kClasses = 64;  // For each factor of 2.

}  // namespace

void LogHistogram::Add(double value, uint64_t count) {
  ASTRA_CHECK(value > 0, "{} has no logarithm", value);
  counts_[static_cast<int32_t>(std::floor(kClasses * std::log2(value)))] +=
      count;
  count_ += count;
  largest_ = std::max(largest_, value);
}

void LogHistogram::Add(const LogHistogram& other) {
  for (const auto& [place, count] : other.counts_) counts_[place] += count;
  count_ += other.count_;
  largest_ = std::max(largest_, other.largest_);
}

double LogHistogram::Percentile(double percent) const {
  ASTRA_CHECK(count_ > 0 && percent >= 0 && percent <= 100,
              "percentile {} of {} values", percent, count_);
  const double wanted = percent / 100 * static_cast<double>(count_);
  if (percent == 100) return largest_;
  uint64_t passed = 0;
  for (const auto& [place, count] : counts_) {
    passed += count;
    if (static_cast<double>(passed) < wanted) continue;
    return std::min(largest_, std::exp2((place + 0.5) / kClasses));
  }
  return largest_;
}

void MessageDistributions::Add(const MessageDistributions& other) {
  time_us.Add(other.time_us);
  slowdown.Add(other.slowdown);
}

void MessageTimes::Add(const FlowRecord& message, uint64_t count) {
  const auto bytes =
      static_cast<uint64_t>(std::max<int64_t>(1, message.bytes.count()));
  MessageDistributions& same =
      by_size_[static_cast<uint32_t>(std::bit_width(bytes)) - 1];
  const int64_t time_ps =
      std::max<int64_t>(1, (message.finish - message.start).count());
  same.time_us.Add(ToMicroseconds(TimePs(time_ps)), count);
  same.slowdown.Add(
      static_cast<double>(time_ps) / static_cast<double>(message.ideal.count()),
      count);
}

void MessageTimes::Add(const MessageTimes& other) {
  for (const auto& [size, some] : other.by_size_) by_size_[size].Add(some);
}

MessageDistributions MessageTimes::All() const {
  MessageDistributions all;
  for (const auto& [size, some] : by_size_) all.Add(some);
  return all;
}

}  // namespace astra
