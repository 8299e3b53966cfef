// Priority queue of deadlines that can be moved; each index has at most one.
//
// An EventQueue keeps a cancelled event until its time comes. The flow backend
// moves a deadline whenever a rate changes, so this queue moves it in place.

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

  // Returns the earliest deadline; of equal deadlines, that of the lowest
  // index. Requires !empty().
  const Deadline& next() const { return heap_.front(); }

  // Sets the deadline of `index` to `time`.
  void Set(uint32_t index, TimePs time) {
    if (index >= place_of_.size()) place_of_.resize(index + 1, kNone);
    if (place_of_[index] == kNone) {
      heap_.emplace_back();
      Move({time, index}, heap_.size() - 1);
    } else {
      Move({time, index}, place_of_[index]);
    }
  }

  // Removes the deadline of `index`, if it has one.
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

  // Puts `deadline` into the heap, starting from the free position `place`.
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
  std::vector<uint32_t> place_of_;  // Position in heap_, by index; or kNone.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_FLOW_DEADLINE_QUEUE_H_
