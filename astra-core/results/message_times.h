// Distributions of the times of messages, by their size: the completion time,
// and the slowdown, which is that time over the time alone on the path.
//
//   MessageTimes times;
//   times.Add(message);                      // Each message.
//   const MessageDistributions all = times.All();
//   Use(all.slowdown.Percentile(99));
//
// Memory does not grow with the messages: values are counted in 64 classes for
// each factor of 2, so a percentile is within 0.6 % of that of the messages.
// The largest value is exact.

#ifndef ASTRA_CORE_RESULTS_MESSAGE_TIMES_H_
#define ASTRA_CORE_RESULTS_MESSAGE_TIMES_H_

#include <cstdint>
#include <map>

#include "network-frontends/network_statistics.h"

namespace astra {

// Counts positive numbers by their logarithms.
class LogHistogram {
 public:
  void Add(double value, uint64_t count);
  void Add(const LogHistogram& other);

  uint64_t count() const { return count_; }
  double largest() const { return largest_; }
  // Returns the value that `percent` of the numbers do not exceed; 100 is the
  // largest. Requires a number, and a percentage from 0 to 100.
  double Percentile(double percent) const;

 private:
  std::map<int32_t, uint64_t> counts_;
  uint64_t count_ = 0;
  double largest_ = 0;
};

struct MessageDistributions {
  LogHistogram time_us;
  LogHistogram slowdown;

  void Add(const MessageDistributions& other);
};

class MessageTimes {
 public:
  // Counts `count` messages that are alike in size, time and ideal time.
  void Add(const FlowRecord& message, uint64_t count = 1);
  void Add(const MessageTimes& other);

  // By the largest power of two that the bytes reach, as its exponent.
  const std::map<uint32_t, MessageDistributions>& by_size() const {
    return by_size_;
  }
  // Returns the distributions over messages of all sizes.
  MessageDistributions All() const;

 private:
  std::map<uint32_t, MessageDistributions> by_size_;
};

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_MESSAGE_TIMES_H_
