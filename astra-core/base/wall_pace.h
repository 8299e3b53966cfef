// Tells a fast loop when to do something that is wanted a few dozen times a
// second, such as looking for a signal:
//
//   WallPace pace;
//   while (Step()) {
//     if (pace.IsDue()) LookForSignals();
//   }
//
// Most calls only count; the clock is read once in many calls. Results must not
// depend on it.

#ifndef ASTRA_CORE_BASE_WALL_PACE_H_
#define ASTRA_CORE_BASE_WALL_PACE_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace astra {

class WallPace {
 public:
  // Returns true at least once in 1,024 calls, and at every call if calls are
  // more than some milliseconds apart.
  bool IsDue() {
    if (++num_calls_ < stride_) return false;
    num_calls_ = 0;
    const Clock::time_point now = Clock::now();
    const Clock::duration passed = now - last_;
    last_ = now;
    if (passed < kShort) stride_ = std::min(kMaxStride, stride_ * 2);
    if (passed > kLong) stride_ = std::max(1U, stride_ / 8);
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kShort{5};
  static constexpr std::chrono::milliseconds kLong{50};
  static constexpr uint32_t kMaxStride = 1024;

  uint32_t num_calls_ = 0;
  uint32_t stride_ = 1;  // Calls from one that is due to the next.
  Clock::time_point last_ = Clock::now();
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_WALL_PACE_H_
