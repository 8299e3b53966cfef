#include "workload/vidur/python_random.h"

#include <numeric>
#include <random>
#include <utility>

namespace astra {

// init_by_array of the authors, with a key of one word.
PythonRandom::PythonRandom(uint32_t seed) {
  constexpr uint32_t kFirst = 19650218;
  constexpr uint32_t kSteps[] = {1812433253, 1664525, 1566083941};
  state_[0] = kFirst;
  const auto mixed = [this](size_t before) {
    return state_[before] ^ (state_[before] >> 30);
  };
  for (size_t i = 1; i < kWords; ++i) {
    state_[i] = kSteps[0] * mixed(i - 1) + static_cast<uint32_t>(i);
  }
  size_t at = 1;
  const auto advance = [&] {
    if (++at < kWords) return;
    state_[0] = state_[kWords - 1];
    at = 1;
  };
  for (size_t i = 0; i < kWords; ++i) {
    state_[at] = (state_[at] ^ (mixed(at - 1) * kSteps[1])) + seed;
    advance();
  }
  for (size_t i = 1; i < kWords; ++i) {
    state_[at] =
        (state_[at] ^ (mixed(at - 1) * kSteps[2])) - static_cast<uint32_t>(at);
    advance();
  }
  state_[0] = uint32_t{1} << 31;
}

void PythonRandom::Refill() {
  constexpr size_t kAhead = 397;
  constexpr uint32_t kUpper = 0x80000000;
  constexpr uint32_t kTwist = 0x9908b0df;
  for (size_t i = 0; i < kWords; ++i) {
    const uint32_t joined =
        (state_[i] & kUpper) | (state_[(i + 1) % kWords] & ~kUpper);
    state_[i] = state_[(i + kAhead) % kWords] ^ (joined >> 1) ^
                ((joined & 1) != 0 ? kTwist : 0);
  }
  used_ = 0;
}

uint32_t PythonRandom::Next() {
  if (used_ == kWords) Refill();
  uint32_t word = state_[used_++];
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680;
  word ^= (word << 15) & 0xefc60000;
  return word ^ (word >> 18);
}

double PythonRandom::Random() {
  constexpr double kLow = 1 << 26;
  constexpr double kOne = 1.0 / (uint64_t{1} << 53);
  const uint32_t high = Next() >> 5;
  const uint32_t low = Next() >> 6;
  return (high * kLow + low) * kOne;
}

std::vector<size_t> NumpyPermutation(uint32_t seed, size_t count) {
  std::mt19937 random(seed);
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  uint32_t mask = 1;  // The least 2^k - 1 that is not below i.
  while (mask + 1 < count) mask = 2 * mask + 1;
  for (size_t i = count; i-- > 1;) {
    while (mask / 2 >= i) mask /= 2;
    size_t other = random() & mask;
    while (other > i) other = random() & mask;
    std::swap(order[i], order[other]);
  }
  return order;
}

}  // namespace astra
