#include "astra-core/engine/message_log.h"

namespace astra {

MessageSequence::Occurrences MessageSequence::OccurrencesOf(size_t item) const {
  Occurrences occurrences;
  for (const auto& [first, end, times, period] : repetitions) {
    if (item < first || item >= end) continue;
    occurrences.count *= static_cast<uint64_t>(times) + 1;
    occurrences.last += times * period;
  }
  return occurrences;
}

std::vector<TimePs> MessageSequence::DelaysOf(size_t item) const {
  std::vector<TimePs> delays = {TimePs()};
  for (const auto& [first, end, times, period] : repetitions) {
    if (item < first || item >= end) continue;
    const size_t count = delays.size();
    for (int64_t i = 1; i <= times; ++i) {
      for (size_t k = 0; k < count; ++k) {
        delays.push_back(delays[k] + i * period);
      }
    }
  }
  return delays;
}

}  // namespace astra
