// Round robin among the queue pairs of a port, as in a NIC: the turn goes
// through the table in order, on from the entry that was served last. New
// entries are appended to the table.

#ifndef NETWORK_FRONTENDS_PACKET_ROUND_ROBIN_H_
#define NETWORK_FRONTENDS_PACKET_ROUND_ROBIN_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "astra-core/base/ids.h"
#include "network-frontends/packet/packet.h"

namespace astra {

using TurnSlot = Id<struct TurnSlotTag>;  // Place in the table of a NIC.

class RoundRobin {
 public:
  bool has_ready() const { return num_ready_ > 0; }

  // Appends an entry, which is not ready, and returns its slot. If most slots
  // are free, entries move up first, and moved(entry, slot) is called for each.
  template <class Moved>
  TurnSlot Add(QueuePairId entry, const Moved& moved) {
    constexpr size_t kFewSlots = 64;
    if (slots_.size() >= kFewSlots && num_free_ > slots_.size() / 2) {
      Compact(moved);
    }
    slots_.push_back(entry);
    if (ready_.size() * 64 < slots_.size()) ready_.push_back(0);
    return TurnSlot(static_cast<uint32_t>(slots_.size() - 1));
  }

  void Remove(TurnSlot slot) {
    SetReady(slot, false);
    slots_[slot.index()] = kNoId<QueuePairId>;
    ++num_free_;
  }

  void SetReady(TurnSlot slot, bool is_ready) {
    const uint64_t bit = uint64_t{1} << (slot.index() % 64);
    uint64_t& word = ready_[slot.index() / 64];
    if (((word & bit) != 0) == is_ready) return;
    word ^= bit;
    num_ready_ += is_ready ? 1U : ~0U;
  }

  // Returns whether the next turn begins after `slot`.
  bool IsPast(TurnSlot slot) const {
    return last_ != kBeforeAll && slot.index() <= last_;
  }
  // Lets the next turn begin after `slot`.
  void GoOnAfter(TurnSlot slot) { last_ = slot.index(); }

  // Returns the entry whose turn it is and counts it as served. Requires
  // has_ready().
  QueuePairId Next() {
    const size_t begin = last_ + 1 < slots_.size() ? last_ + 1 : 0;
    size_t word = begin / 64;
    uint64_t bits = ready_[word] & (~uint64_t{0} << (begin % 64));
    while (bits == 0) {
      word = word + 1 < ready_.size() ? word + 1 : 0;
      bits = ready_[word];
    }
    last_ = word * 64 + static_cast<size_t>(std::countr_zero(bits));
    return slots_[last_];
  }

 private:
  // A table of few entries lies in the object: one cache line for all of it.
  using Slots = absl::InlinedVector<QueuePairId, 4>;
  using Words = absl::InlinedVector<uint64_t, 2>;

  template <class Moved>
  void Compact(const Moved& moved) {
    Slots slots;
    Words ready(ready_.size());
    size_t last = kBeforeAll;
    for (size_t old = 0; old < slots_.size(); ++old) {
      if (slots_[old] != kNoId<QueuePairId>) {
        const size_t slot = slots.size();
        const uint64_t is_ready = ready_[old / 64] >> (old % 64) & 1;
        ready[slot / 64] |= is_ready << (slot % 64);
        moved(slots_[old], TurnSlot(static_cast<uint32_t>(slot)));
        slots.push_back(slots_[old]);
      }
      if (old == last_) last = slots.size() - 1;
    }
    slots_ = std::move(slots);
    ready.resize(slots_.size() / 64 + 1);
    ready_ = std::move(ready);
    last_ = last;
    num_free_ = 0;
  }

  static constexpr size_t kBeforeAll = std::numeric_limits<size_t>::max();

  Slots slots_;               // Entries; kNoId: free.
  Words ready_;               // One bit for each slot.
  size_t last_ = kBeforeAll;  // Slot that was served last.
  uint32_t num_ready_ = 0;
  uint32_t num_free_ = 0;
};
static_assert(sizeof(RoundRobin) == 64, "a cache line");

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_ROUND_ROBIN_H_
