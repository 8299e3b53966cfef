// A packet, as ports and links hold it.

#ifndef NETWORK_FRONTENDS_PACKET_PACKET_H_
#define NETWORK_FRONTENDS_PACKET_PACKET_H_

#include <cstdint>
#include <limits>

namespace astra {

enum class PacketKind : uint8_t { kData, kAck, kNack, kPause, kResume };

struct Packet {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  enum Flag : uint8_t {
    kMarked = 1,     // ECN; on an ACK: the packet it answers was marked.
    kLost = 2,       // Is lost before the end of the link that it is on.
    kBuffered = 4,   // Counts in the buffer of the switch that it is at.
    kOwnWay = 8,     // Has left the path of its queue pair.
    kWantsAck = 16,  // Its sender may send no more until an ACK comes.
  };

  // In a queue: the instant from which it may leave. On a wire: the instant at
  // which it reaches the far end.
  int64_t time_ps = 0;
  uint32_t queue_pair = kNone;
  // Of data: its number in the queue pair. Of an acknowledgement: the first
  // number that the receiver lacks.
  uint32_t sequence = 0;
  uint32_t telemetry = kNone;  // Index of its TelemetrySlot.
  uint32_t ingress = kNone;    // At a switch: link on which it arrived.
  uint16_t bytes = 0;          // Size on the wire.
  uint8_t hop = 0;             // Links of its path on which it was sent.
  PacketKind kind = PacketKind::kData;
  uint8_t flags = 0;
};
static_assert(sizeof(Packet) == 32, "there are 10^5 under way");

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PACKET_H_
