// An array whose freed slots are used again, the slot that was freed last
// first. Things that come and go (queue pairs, messages, telemetry) thus keep
// dense indices and cost no allocation once the array is large enough.

#ifndef NETWORK_FRONTENDS_PACKET_SLOT_POOL_H_
#define NETWORK_FRONTENDS_PACKET_SLOT_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "network-frontends/packet/huge_pages.h"

namespace astra {

template <class Slot, class Value>
class SlotPool {
 public:
  Value& operator[](Slot slot) { return values_[slot.index()]; }
  const Value& operator[](Slot slot) const { return values_[slot.index()]; }

  // Returns a free slot, which still holds the value that it had when it was
  // freed. References to values become invalid.
  Slot Take() {
    if (free_.empty()) {
      free_.emplace_back(static_cast<uint32_t>(values_.size()));
      values_.emplace_back();
    }
    const Slot slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void Free(Slot slot) { free_.push_back(slot); }

  // Number of slots, free or not.
  size_t size() const { return values_.size(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  std::pmr::vector<Value> values_{HugePages()};
  std::vector<Slot> free_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_SLOT_POOL_H_
