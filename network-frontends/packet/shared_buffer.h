// The memory of a switch, which all its ports share.
//
//   lossless (PFC)  each incoming link may hold a reserve of its own and, of
//   the
//                   shared rest, `share` times what is free of it. What arrives
//                   beyond goes into the headroom of the link, and its sender
//                   is told to pause until the link holds `resume_offset` less
//                   than it may. Headroom is for what is under way meanwhile;
//                   where it is too small, packets are dropped.
//   lossy           each outgoing port may hold `share` times what is free;
//                   what arrives beyond is dropped.
//
// A packet holds memory from its arrival until it begins to leave.
//
// Source: A. Choudhury, E. Hahne, "Dynamic queue length thresholds for shared-
// memory packet switches", ToN 6(2), 1998; headroom: IEEE 802.1Qbb.

#ifndef NETWORK_FRONTENDS_PACKET_SHARED_BUFFER_H_
#define NETWORK_FRONTENDS_PACKET_SHARED_BUFFER_H_

#include <algorithm>
#include <cstdint>

namespace astra {

// What the packets of one incoming link hold.
struct IngressBuffer {
  int64_t held_bytes = 0;  // Reserve and shared memory.
  int64_t headroom_used_bytes = 0;
  int64_t headroom_bytes = 0;  // That there is.
  bool has_paused = false;     // Its sender has been told.
};

struct SharedBuffer {
  int64_t shared_bytes = 0;  // The buffer less reserves and headrooms.
  int64_t shared_used_bytes = 0;
  int64_t used_bytes = 0;     // Of all memory.
  int64_t reserve_bytes = 0;  // Of each incoming link.
  int64_t resume_offset_bytes = 0;
  double share = 0;
  bool is_lossless = false;
  uint32_t num_paused = 0;  // Incoming links.
  int64_t max_used_bytes = 0;

  int64_t ThresholdBytes() const {
    return static_cast<int64_t>(
        share * static_cast<double>(shared_bytes - shared_used_bytes));
  }

  int64_t SharedBy(const IngressBuffer& link) const {
    return std::max<int64_t>(0, link.held_bytes - reserve_bytes);
  }

  // Whether a packet finds room; of a lossy switch, in a port whose queue holds
  // `queued_bytes`.
  bool HasRoom(const IngressBuffer& link, int64_t queued_bytes,
               int64_t bytes) const {
    if (!is_lossless) {
      return shared_used_bytes + bytes <= shared_bytes &&
             queued_bytes + bytes <= ThresholdBytes();
    }
    return IsWithin(link, bytes) ||
           link.headroom_used_bytes + bytes <= link.headroom_bytes;
  }

  // Takes memory for a packet. Requires HasRoom.
  void Add(IngressBuffer& link, int64_t bytes) {
    used_bytes += bytes;
    max_used_bytes = std::max(max_used_bytes, used_bytes);
    if (!is_lossless) {
      shared_used_bytes += bytes;
    } else if (!IsWithin(link, bytes)) {
      link.headroom_used_bytes += bytes;
    } else {
      const int64_t before = SharedBy(link);
      link.held_bytes += bytes;
      shared_used_bytes += SharedBy(link) - before;
    }
  }

  // Gives it back, headroom first.
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

  // Whether a packet certainly finds room and pauses nobody, whatever has been
  // given back that was not counted yet.
  bool IsEasy(const IngressBuffer& link, int64_t queued_bytes,
              int64_t bytes) const {
    const int64_t free_bytes = shared_bytes - shared_used_bytes - bytes;
    const int64_t wanted = is_lossless ? link.held_bytes : queued_bytes;
    return link.headroom_used_bytes == 0 && free_bytes > 0 &&
           wanted + bytes <
               static_cast<int64_t>(share * static_cast<double>(free_bytes));
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
  // Whether the packet fits without headroom.
  bool IsWithin(const IngressBuffer& link, int64_t bytes) const {
    const int64_t held = link.held_bytes + bytes;
    if (held <= reserve_bytes) return true;
    return held - reserve_bytes <= ThresholdBytes() &&
           shared_used_bytes + bytes <= shared_bytes;
  }
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_SHARED_BUFFER_H_
