// Deadlines that move, earliest first: at most one for each index.
//
// An EventQueue forgets what is cancelled only when its time comes. Here every
// change of a rate moves a deadline, so a deadline is moved in its place.

#ifndef NETWORK_FRONTENDS_FLOW_DEADLINE_QUEUE_H_
#define NETWORK_FRONTENDS_FLOW_DEADLINE_QUEUE_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "astra-core/base/units.h"

namespace astra {

class DeadlineQueue {
 public:
  struct Deadline {
    TimePs time;
    uint32_t index = 0;

    friend constexpr auto operator<=>(const Deadline&,
                                      const Deadline&) = default;
  };

  bool empty() const { return heap_.empty(); }

  // The earliest, the lowest index of equals. Requires !empty().
  const Deadline& next() const { return heap_.front(); }

  // From now on that of `index` is `time`.
  void Set(uint32_t index, TimePs time) {
    if (index >= place_of_.size()) place_of_.resize(index + 1, kNone);
    if (place_of_[index] == kNone) {
      heap_.emplace_back();
      Move({time, index}, heap_.size() - 1);
    } else {
      Move({time, index}, place_of_[index]);
    }
  }

  // From now on `index` has none, if it had one.
  void Remove(uint32_t index) {
    if (index >= place_of_.size() || place_of_[index] == kNone) return;
    const size_t place = place_of_[index];
    place_of_[index] = kNone;
    const Deadline last = heap_.back();
    heap_.pop_back();
    if (place < heap_.size()) Move(last, place);
  }

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  static constexpr size_t kArity = 4;

  // Puts `deadline` where it belongs, starting from `place`, which is free.
  void Move(const Deadline& deadline, size_t place) {
    while (place > 0 && deadline < heap_[(place - 1) / kArity]) {
      Put(heap_[(place - 1) / kArity], place);
      place = (place - 1) / kArity;
    }
    while (true) {
      const size_t begin = place * kArity + 1;
      if (begin >= heap_.size()) break;
      const size_t end = std::min(begin + kArity, heap_.size());
      size_t least = begin;
      for (size_t i = begin + 1; i < end; ++i) {
        if (heap_[i] < heap_[least]) least = i;
      }
      if (deadline < heap_[least]) break;
      Put(heap_[least], place);
      place = least;
    }
    Put(deadline, place);
  }

  void Put(const Deadline& deadline, size_t place) {
    heap_[place] = deadline;
    place_of_[deadline.index] = static_cast<uint32_t>(place);
  }

  std::vector<Deadline> heap_;
  std::vector<uint32_t> place_of_;  // In heap_, by index.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_FLOW_DEADLINE_QUEUE_H_
