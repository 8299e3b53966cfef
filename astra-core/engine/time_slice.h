// How far a network is simulated before somebody looks for signals, if nothing
// happens earlier. The length follows the wall clock and must change no result.

#ifndef ASTRA_CORE_ENGINE_TIME_SLICE_H_
#define ASTRA_CORE_ENGINE_TIME_SLICE_H_

#include <algorithm>
#include <chrono>

#include "astra-core/base/units.h"
#include "collectives/closed_form.h"

namespace astra {

class TimeSlice {
 public:
  TimePs length() const { return length_; }

  // Call it at the end of each slice. It keeps the wall-clock time of a slice
  // at 5 to 50 ms, so that a signal ends the run soon.
  void Adapt() {
    const Clock::time_point now = Clock::now();
    const Clock::duration passed = now - ended_;
    ended_ = now;
    if (passed < std::chrono::milliseconds(5)) {
      length_ = std::min(kMaxCollectiveTime, length_ + length_);
    } else if (passed > std::chrono::milliseconds(50)) {
      length_ = std::max(Microseconds(1), TimePs(length_.count() / 2));
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  TimePs length_ = Microseconds(10);
  Clock::time_point ended_ = Clock::now();
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_TIME_SLICE_H_
