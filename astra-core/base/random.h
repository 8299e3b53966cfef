// Random numbers without state: a hash of what is drawn for. The same seed and
// the same purpose give the same draw, whatever else is drawn, in whatever
// order, on any number of threads.
//
// Source: the finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast
// splittable pseudorandom number generators", OOPSLA 2014).

#ifndef ASTRA_CORE_BASE_RANDOM_H_
#define ASTRA_CORE_BASE_RANDOM_H_

#include <cstdint>

namespace astra {

// A bijection of 64-bit words in which each bit of the result depends on each
// bit of `word`.
constexpr uint64_t Mix64(uint64_t word) {
  word += 0x9e3779b97f4a7c15;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

// A hash of several words, in this order.
template <class... Words>
constexpr uint64_t HashOf(uint64_t first, Words... rest) {
  uint64_t hash = Mix64(first);
  ((hash = Mix64(hash ^ static_cast<uint64_t>(rest))), ...);
  return hash;
}

// A number from [0, 1), uniform if `hash` is.
constexpr double UnitInterval(uint64_t hash) {
  return static_cast<double>(hash >> 11) * 0x1p-53;
}

}  // namespace astra

#endif  // ASTRA_CORE_BASE_RANDOM_H_
