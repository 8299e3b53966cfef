// Shared packet buffer of one switch, with dynamic thresholds.
//
//   if (!buffer.HasRoom(link, queued_bytes, packet_bytes)) drop the packet;
//   buffer.Add(link, packet_bytes);     // When the packet has to wait.
//   buffer.Remove(link, packet_bytes);  // When it begins to leave.
//
// Lossless (PFC): each incoming link may hold a reserve of its own and, of the
// shared rest, `share` times the free memory. Packets beyond this limit go into
// the headroom of the link, and the sender is told to pause until the link
// holds `resume_offset_bytes` less than the limit. Headroom is for packets that
// are under way meanwhile; where it is too small, packets are dropped. So are
// those that find the whole buffer full, where reserves and headrooms add up to
// more than it has.
//
// Lossy: each outgoing port may hold `share` times the free memory; packets
// beyond this limit are dropped.
//
// Sources: A. Choudhury, E. Hahne, "Dynamic queue length thresholds for
// shared-memory packet switches", ToN 6(2), 1998; headroom: IEEE 802.1Qbb.

#ifndef NETWORK_FRONTENDS_PACKET_SHARED_BUFFER_H_
#define NETWORK_FRONTENDS_PACKET_SHARED_BUFFER_H_

#include <algorithm>
#include <cstdint>
#include <limits>

namespace astra {

// Buffer memory that the packets of one incoming link occupy.
struct IngressBuffer {
  int64_t held_bytes = 0;  // Bytes held in the reserve and shared memory.
  int64_t headroom_used_bytes = 0;
  int64_t headroom_bytes = 0;  // Size of the link's headroom.
  bool has_paused = false;     // Its sender was told to pause.
};

struct SharedBuffer {
  int64_t buffer_bytes = std::numeric_limits<int64_t>::max();
  int64_t shared_bytes = 0;  // The buffer less reserves and headrooms.
  int64_t shared_used_bytes = 0;
  int64_t used_bytes = 0;     // Memory in use, of all kinds.
  int64_t reserve_bytes = 0;  // Reserve of each incoming link.
  int64_t resume_offset_bytes = 0;
  double share = 0;
  bool is_lossless = false;
  uint32_t num_paused = 0;  // Incoming links that are paused.
  int64_t max_used_bytes = 0;
  // Memory set aside for packets that are not simulated one by one: the most
  // that they hold in all, and over one link.
  int64_t aside_bytes = 0;
  int64_t largest_aside_bytes = 0;

  int64_t ThresholdBytes() const {
    return static_cast<int64_t>(
        share * static_cast<double>(shared_bytes - shared_used_bytes));
  }

  int64_t SharedBy(const IngressBuffer& link) const {
    return std::max<int64_t>(0, link.held_bytes - reserve_bytes);
  }

  // Returns whether a packet finds room. In a lossy switch, `queued_bytes` is
  // the queue of its outgoing port.
  bool HasRoom(const IngressBuffer& link, int64_t queued_bytes,
               int64_t bytes) const {
    if (!is_lossless) {
      return shared_used_bytes + bytes <= shared_bytes &&
             queued_bytes + bytes <= ThresholdBytes();
    }
    return used_bytes + bytes <= buffer_bytes &&
           (IsWithin(link, bytes) ||
            link.headroom_used_bytes + bytes <= link.headroom_bytes);
  }

  // Takes memory for a packet. Requires HasRoom().
  void Add(IngressBuffer& link, int64_t bytes) {
    if (!is_lossless || IsWithin(link, bytes)) return AddWithin(link, bytes);
    CountUse(bytes);
    link.headroom_used_bytes += bytes;
  }

  // Takes memory for a packet that needs no headroom, as after IsEasy().
  void AddWithin(IngressBuffer& link, int64_t bytes) {
    CountUse(bytes);
    if (!is_lossless) {
      shared_used_bytes += bytes;
      return;
    }
    const int64_t before = SharedBy(link);
    link.held_bytes += bytes;
    shared_used_bytes += SharedBy(link) - before;
  }

  // Frees the memory of a packet, headroom first.
  void Remove(IngressBuffer& link, int64_t bytes) {
    used_bytes -= bytes;
    if (!is_lossless) {
      shared_used_bytes -= bytes;
      return;
    }
    const int64_t from_headroom = std::min(link.headroom_used_bytes, bytes);
    link.headroom_used_bytes -= from_headroom;
    const int64_t before = SharedBy(link);
    link.held_bytes -= bytes - from_headroom;
    shared_used_bytes -= before - SharedBy(link);
  }

  // Returns true if a packet certainly finds room and causes no pause, even if
  // some memory that was freed is not counted yet, and even if all that is set
  // aside is in use.
  bool IsEasy(const IngressBuffer& link, int64_t queued_bytes,
              int64_t bytes) const {
    const int64_t free_bytes =
        shared_bytes - shared_used_bytes - aside_bytes - bytes;
    const int64_t wanted = std::max(
        is_lossless ? link.held_bytes : queued_bytes, largest_aside_bytes);
    return link.headroom_used_bytes == 0 && free_bytes > 0 &&
           wanted + bytes <
               static_cast<int64_t>(share * static_cast<double>(free_bytes));
  }

  // Returns whether packets of `bytes` certainly find room as long as
  // `sum_bytes` are in use, and at most `largest_bytes` by one link.
  bool StaysEasy(int64_t sum_bytes, int64_t largest_bytes,
                 int64_t bytes) const {
    const int64_t free_bytes = shared_bytes - sum_bytes - bytes;
    return free_bytes > 0 && static_cast<double>(largest_bytes + 2 * bytes) <
                                 share * static_cast<double>(free_bytes);
  }

  bool ShouldPause(const IngressBuffer& link) const {
    return is_lossless && !link.has_paused &&
           (link.headroom_used_bytes > 0 ||
            SharedBy(link) >= std::max<int64_t>(1, ThresholdBytes()));
  }

  bool ShouldResume(const IngressBuffer& link) const {
    if (!link.has_paused || link.headroom_used_bytes > 0) return false;
    const int64_t shared = SharedBy(link);
    return shared == 0 || shared + resume_offset_bytes <= ThresholdBytes();
  }

 private:
  void CountUse(int64_t bytes) {
    used_bytes += bytes;
    max_used_bytes = std::max(max_used_bytes, used_bytes);
  }
  // Returns whether the packet fits without headroom.
  bool IsWithin(const IngressBuffer& link, int64_t bytes) const {
    const int64_t held = link.held_bytes + bytes;
    if (held <= reserve_bytes) return true;
    return held - reserve_bytes <= ThresholdBytes() &&
           shared_used_bytes + bytes <= shared_bytes;
  }
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_SHARED_BUFFER_H_
