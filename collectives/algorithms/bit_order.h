// Orders numbers by their bits, the lowest bit first: 0 4 2 6 1 5 3 7. Numbers
// that agree in their lowest k bits are in a row, for any k.

#ifndef COLLECTIVES_ALGORITHMS_BIT_ORDER_H_
#define COLLECTIVES_ALGORITHMS_BIT_ORDER_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace astra {

// Returns the numbers below `n`, ordered by their bits.
inline std::vector<uint32_t> BitOrder(uint32_t n) {
  std::vector<uint32_t> order = {0};
  order.reserve(n);
  // Each round replaces a number by two: itself, and itself with the next bit
  // set.
  for (uint32_t size = 1; size < std::bit_ceil(n); size *= 2) {
    std::vector<uint32_t> next;
    next.reserve(size_t{2} * size);
    for (const uint32_t low : order) next.insert(next.end(), {low, low + size});
    order = std::move(next);
  }
  std::erase_if(order, [&](uint32_t number) { return number >= n; });
  return order;
}

// Returns the position of each number in `order`.
inline std::vector<uint32_t> PlacesIn(const std::vector<uint32_t>& order) {
  std::vector<uint32_t> places(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) places[order[i]] = i;
  return places;
}

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_BIT_ORDER_H_
