#include "astra-core/engine/flow_carrier.h"

#include <algorithm>
#include <limits>

#include "astra-core/base/check.h"
#include "astra-core/base/random.h"

namespace astra {

void FlowCarrier::Leave(const CarriedFlow& flow, const Message& message,
                        TimePs before, TimePs after) {
  const uint32_t slot = TakeSlot();
  in_flight_[slot] = InFlight();
  in_flight_[slot].flow = flow;
  in_flight_[slot].message = message;
  in_flight_[slot].after = after;
  in_flight_[slot].message.id = MessageId(slot);
  if (before == TimePs(0)) {
    network_.Send(in_flight_[slot].message);
  } else {
    Delay(before, kMessageReady, slot);
  }
}

void FlowCarrier::AdvanceTo(TimePs limit, std::vector<CarriedFlow>* done) {
  while (done_.empty()) {
    const TimePs next = delays_.empty() ? limit : delays_.next().time;
    const TimePs until = std::min(limit, next);
    arrived_.clear();
    network_.AdvanceTo(until, &arrived_);
    if (arrived_.empty() && network_.now() < until) break;
    for (const MessageId message : arrived_) {
      const uint32_t slot = message.index();
      const TimePs after = in_flight_[slot].after;
      if (after == TimePs(0)) {
        done_.push_back(slot);
      } else {
        Delay(after, kTargetDone, slot);
      }
    }
    EndDelays();
    if (arrived_.empty() && next >= limit) break;
  }
  Sort(&done_);
  for (const uint32_t slot : done_) {
    done->push_back(in_flight_[slot].flow);
    in_flight_[slot].is_free = true;
    free_slots_.push_back(slot);
  }
  done_.clear();
}

// Ends the delays that are over now. Messages leave in the order of their
// flows.
void FlowCarrier::EndDelays() {
  while (!delays_.empty() && delays_.next().time == network_.now()) {
    const Event delay = delays_.Pop();
    (delay.kind == kTargetDone ? done_ : leaving_).push_back(delay.index);
  }
  Sort(&leaving_);
  for (const uint32_t slot : leaving_) network_.Send(in_flight_[slot].message);
  leaving_.clear();
}

void FlowCarrier::Return() {
  while (!delays_.empty()) present_.Push(delays_.Pop());
  delays_ = std::exchange(present_, EventQueue());
}

std::vector<CarriedFlow> FlowCarrier::UnderWay(uint32_t communicator,
                                               uint32_t number) const {
  std::vector<CarriedFlow> flows;
  for (const InFlight& carried : in_flight_) {
    if (!carried.is_free && carried.flow.communicator == communicator &&
        carried.flow.number == number) {
      flows.push_back(carried.flow);
    }
  }
  std::sort(flows.begin(), flows.end());
  return flows;
}

void FlowCarrier::Delay(TimePs time, DelayKind kind, uint32_t slot) {
  InFlight& delayed = in_flight_[slot];
  delayed.due = network_.now() + time;
  delayed.kind = kind;
  delays_.Push({.time = delayed.due, .kind = kind, .index = slot});
}

// A sum does not depend on the slots.
uint64_t FlowCarrier::StateFrom(const CarriedFlow& of) const {
  uint64_t sum = 0;
  for (const InFlight& carried : in_flight_) {
    if (carried.is_free || !AreOfOne(carried.flow, of)) continue;
    // A delay that has ended is one that is not there.
    const int64_t left =
        std::max<int64_t>(0, (carried.due - network_.now()).count());
    sum += HashOf(carried.flow.flow.index() - of.flow.index(), left,
                  left == 0 ? 0 : 1 + static_cast<uint64_t>(carried.kind));
  }
  return sum;
}

uint64_t FlowCarrier::LastUnderWay(const CarriedFlow& of) const {
  uint64_t last = 0;
  for (const InFlight& carried : in_flight_) {
    if (carried.is_free || !AreOfOne(carried.flow, of)) continue;
    last = std::max(last, carried.flow.flow.index());
  }
  return last;
}

void FlowCarrier::Renumber(const CarriedFlow& of, uint64_t by) {
  for (InFlight& carried : in_flight_) {
    if (carried.is_free || !AreOfOne(carried.flow, of)) continue;
    carried.flow.flow = FlowId(carried.flow.flow.index() + by);
  }
}

uint32_t FlowCarrier::TakeSlot() {
  if (free_slots_.empty()) {
    ASTRA_CHECK(in_flight_.size() < std::numeric_limits<uint32_t>::max(),
                "{} messages in flight", in_flight_.size());
    free_slots_.push_back(static_cast<uint32_t>(in_flight_.size()));
    in_flight_.emplace_back();
  }
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void FlowCarrier::Sort(std::vector<uint32_t>* slots) const {
  std::sort(slots->begin(), slots->end(), [this](uint32_t a, uint32_t b) {
    return in_flight_[a].flow < in_flight_[b].flow;
  });
}

}  // namespace astra
