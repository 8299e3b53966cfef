// EventQueue holds the pending events of a simulation and pops the earliest.

#ifndef ASTRA_CORE_BASE_EVENT_QUEUE_H_
#define ASTRA_CORE_BASE_EVENT_QUEUE_H_

#include <compare>
#include <cstddef>
#include <cstdint>

#include "astra-core/base/check.h"
#include "astra-core/base/units.h"
#include "boost/heap/d_ary_heap.hpp"

namespace astra {

// An event says when, what and to whom; the owner of the queue gives `kind` and
// `index` their meaning. Events of one instant fire in order of (kind, index),
// never of insertion, so that a result does not depend on who pushed first.
struct Event {
  TimePs time;
  uint32_t kind = 0;
  uint32_t index = 0;

  friend constexpr auto operator<=>(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) == 16, "24 bytes took 1.1 to 1.7 times as long");

class EventQueue {
 public:
  bool empty() const { return pending_.empty(); }
  size_t size() const { return pending_.size() - cancelled_.size(); }

  // Returns the earliest event. Requires !empty().
  const Event& next() const { return pending_.top(); }

  void Push(const Event& event) { pending_.push(event); }

  // Removes and returns the next event. Requires !empty().
  Event Pop() {
    const Event event = pending_.top();
    pending_.pop();
    DropCancelled();
    return event;
  }

  // Cancels one event equal to `event`, which must be pending.
  //
  // A second heap holds cancelled events, and both heaps drop such an event
  // when it reaches their tops. Events thus stay at 16 bytes and need no
  // handles, but a cancelled event uses memory until its time comes.
  void Cancel(const Event& event) {
    ASTRA_CHECK(!empty(), "nothing is pending");
    cancelled_.push(event);
    DropCancelled();
  }

 private:
  struct Later {
    bool operator()(const Event& a, const Event& b) const { return a > b; }
  };
  using Heap = boost::heap::d_ary_heap<Event, boost::heap::arity<4>,
                                       boost::heap::compare<Later>>;

  void DropCancelled() {
    while (!cancelled_.empty() && cancelled_.top() == pending_.top()) {
      cancelled_.pop();
      pending_.pop();
    }
  }

  Heap pending_;
  // Cancelled events. Each is also in pending_; the two tops are never equal.
  Heap cancelled_;
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_EVENT_QUEUE_H_
