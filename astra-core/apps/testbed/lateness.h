// A histogram of how late things happened, in whole microseconds.

#ifndef ASTRA_CORE_APPS_TESTBED_LATENESS_H_
#define ASTRA_CORE_APPS_TESTBED_LATENESS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "astra-core/base/units.h"

namespace astra {

class Lateness {
 public:
  void Add(TimePs late) {
    const int64_t microseconds = std::clamp<int64_t>(
        late.count() / Microseconds(1).count(), 0, kMost - 1);
    ++counts_[static_cast<size_t>(microseconds)];
    ++total_;
  }

  // Returns the least lateness, in whole microseconds, that at least `share` of
  // all did not exceed; 0 without any. The largest that is told apart is
  // kMost - 1.
  int64_t QuantileUs(double share) const {
    const double wanted = share * static_cast<double>(total_);
    int64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > 0 && static_cast<double>(seen) >= wanted) {
        return static_cast<int64_t>(i);
      }
    }
    return 0;
  }

 private:
  static constexpr int64_t kMost = 100'000;

  std::vector<int64_t> counts_ = std::vector<int64_t>(kMost);
  int64_t total_ = 0;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_TESTBED_LATENESS_H_
