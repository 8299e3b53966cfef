// Random numbers without state: each is a hash of its purpose. The same seed
// and purpose give the same number, regardless of other draws, their order, and
// the number of threads.
//
// Source: the finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast
// splittable pseudorandom number generators", OOPSLA 2014).

#ifndef ASTRA_CORE_BASE_RANDOM_H_
#define ASTRA_CORE_BASE_RANDOM_H_

#include <cstdint>

namespace astra {

// Returns a bijective hash of `word`: each bit of the result depends on each
// bit of `word`.
constexpr uint64_t Mix64(uint64_t word) {
  word += 0x9e3779b97f4a7c15;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

// Returns a hash of several words, which depends on their order.
template <class... Words>
constexpr uint64_t HashOf(uint64_t first, Words... rest) {
  uint64_t hash = Mix64(first);
  ((hash = Mix64(hash ^ static_cast<uint64_t>(rest))), ...);
  return hash;
}

// Returns a number in [0, 1), which is uniform if `hash` is.
constexpr double UnitInterval(uint64_t hash) {
  return static_cast<double>(hash >> 11) * 0x1p-53;
}

}  // namespace astra

#endif  // ASTRA_CORE_BASE_RANDOM_H_
