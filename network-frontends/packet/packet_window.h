// State of single packets at the sender and the receiver, for selective repeat.

#ifndef NETWORK_FRONTENDS_PACKET_PACKET_WINDOW_H_
#define NETWORK_FRONTENDS_PACKET_PACKET_WINDOW_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "network-frontends/packet/packet.h"

namespace astra {

// A growing ring with one value, of one byte, for each packet from `begin` on.
// Packets that were never set have the value `T{}`.
template <class T>
class PacketRing {
 public:
  PacketNumber begin() const { return PacketNumber(begin_); }

  T Get(PacketNumber packet) const {
    const uint32_t i = packet.index();
    if (i < begin_ || i - begin_ >= ring_.size()) return T{};
    return ring_[i & (ring_.size() - 1)];
  }

  // Requires packet >= begin().
  void Set(PacketNumber packet, T value) {
    const uint32_t i = packet.index();
    if (i - begin_ >= ring_.size()) Grow(i - begin_);
    ring_[i & (ring_.size() - 1)] = value;
  }

  // Removes packet begin() and increments begin().
  void PopFront() {
    if (!ring_.empty()) ring_[begin_ & (ring_.size() - 1)] = T{};
    ++begin_;
  }

 private:
  // Makes room for more than `length` packets.
  void Grow(size_t length) {
    size_t size = std::max<size_t>(ring_.size(), 64);
    while (length >= size) size *= 2;
    std::vector<T> ring(size);
    for (size_t i = 0; i < ring_.size(); ++i) {
      const auto old = begin_ + static_cast<uint32_t>(i);
      ring[old & (size - 1)] = ring_[old & (ring_.size() - 1)];
    }
    ring_ = std::move(ring);
  }

  uint32_t begin_ = 0;
  std::vector<T> ring_;  // Its size is a power of two.
};

// Packets that have arrived after a missing one.
class ReceiveWindow {
 public:
  // Notes that `packet` has arrived. `expected` is the first packet that was
  // missing before; returns the first that is missing now.
  PacketNumber Insert(PacketNumber packet, PacketNumber expected) {
    while (arrived_.begin() < expected) arrived_.PopFront();
    if (packet >= expected) arrived_.Set(packet, 1);
    while (arrived_.Get(expected) != 0) {
      arrived_.PopFront();
      expected = Next(expected);
    }
    return expected;
  }

 private:
  PacketRing<uint8_t> arrived_;
};

// States of packets that are not acknowledged up to the first missing one.
class SendWindow {
 public:
  enum class State : uint8_t { kNotSent, kFlying, kArrived, kLost };

  State Get(PacketNumber packet) const { return states_.Get(packet); }
  void Set(PacketNumber packet, State state) { states_.Set(packet, state); }

  void PopFront() { states_.PopFront(); }

  // Marks `packet` as lost; it waits to be sent again.
  void Lose(PacketNumber packet) {
    states_.Set(packet, State::kLost);
    lost_.push_back(packet);
  }

  // Gives the lost packet that was marked first and is still lost; returns
  // false if there is none.
  bool PeekLost(PacketNumber* packet) {
    while (!lost_.empty() && Get(lost_.front()) != State::kLost) {
      lost_.pop_front();
    }
    if (lost_.empty()) return false;
    *packet = lost_.front();
    return true;
  }

  // Packets before `scanned` have been checked for loss.
  PacketNumber scanned;
  PacketNumber highest_arrived;

 private:
  PacketRing<State> states_;
  std::deque<PacketNumber> lost_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PACKET_WINDOW_H_
