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
    kMarked = 1,     // ECN: congestion experienced; of an ACK: of its packet.
    kLost = 2,       // It does not reach the end of the link that it is on.
    kBuffered = 4,   // It counts in the buffer of the switch that it is at.
    kOwnWay = 8,     // It has left the path of its queue pair.
    kWantsAck = 16,  // Its sender may send no more until one comes.
  };

  // In a queue: from when it may leave. On a wire: when it is at the far end.
  int64_t time_ps = 0;
  uint32_t queue_pair = kNone;
  // Data: its number in the queue pair. Acknowledgements: the first number that
  // the receiver lacks.
  uint32_t sequence = 0;
  uint32_t telemetry = kNone;  // A slot; see Telemetry.
  uint32_t ingress = kNone;    // At a switch: the link it came on.
  uint16_t bytes = 0;          // On the wire.
  uint8_t hop = 0;             // Links of its path that it has begun.
  PacketKind kind = PacketKind::kData;
  uint8_t flags = 0;
};
static_assert(sizeof(Packet) == 32, "there are 10^5 under way");

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PACKET_H_
