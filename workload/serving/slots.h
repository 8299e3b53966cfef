// Keeps things that wait for something, by small numbers that are used again.

#ifndef WORKLOAD_SERVING_SLOTS_H_
#define WORKLOAD_SERVING_SLOTS_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace astra {

template <class T>
class Slots {
 public:
  // Returns the number of `value` until it is taken.
  uint32_t Add(T value) {
    if (unused_.empty()) {
      values_.push_back(std::move(value));
      return static_cast<uint32_t>(values_.size() - 1);
    }
    const uint32_t slot = unused_.back();
    unused_.pop_back();
    values_[slot] = std::move(value);
    return slot;
  }
  // Returns the value of a slot that Add() returned and that was not taken.
  T& operator[](uint32_t slot) { return values_[slot]; }

  // Requires that Add() returned `slot`, and that it was not taken since.
  T Take(uint32_t slot) {
    unused_.push_back(slot);
    return std::move(values_[slot]);
  }

 private:
  std::vector<T> values_;
  std::vector<uint32_t> unused_;
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_SLOTS_H_
