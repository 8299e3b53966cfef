// A packet, as ports and links hold it, and the ids of what a packet names.

#ifndef NETWORK_FRONTENDS_PACKET_PACKET_H_
#define NETWORK_FRONTENDS_PACKET_PACKET_H_

#include <cstdint>
#include <limits>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/congestion/congestion_control.h"

namespace astra {

// The id of nothing. For example, the link after the last of a path is
// kNoId<LinkId>.
template <class AnId>
inline constexpr AnId kNoId(std::numeric_limits<uint32_t>::max());

// Position of a packet among all packets of its queue pair, from 0 on.
using PacketNumber = Id<struct PacketNumberTag>;
constexpr PacketNumber Next(PacketNumber packet) {
  return PacketNumber(packet.index() + 1);
}

using TelemetryId = Id<struct TelemetryTag>;  // Slot in TelemetrySlots.

enum class PacketKind : uint8_t { kData, kAck, kNack, kPause, kResume };

// Aligned so that it does not lie across two cache lines.
struct alignas(32) Packet {
  enum Flag : uint8_t {
    kMarked = 1,       // ECN; on an ACK: the packet it answers was marked.
    kLost = 2,         // Is lost before the end of the link that it is on.
    kBuffered = 4,     // Counts in the buffer of the switch that it is at.
    kOwnWay = 8,       // Has left the path of its queue pair.
    kWantsAck = 16,    // Its sender may send no more until an ACK comes.
    kHandedOver = 32,  // The zone at the end of the link knows of it.
  };

  bool has(Flag flag) const { return (flags & flag) != 0; }
  void Clear(Flag flag) { flags &= static_cast<uint8_t>(~flag); }
  Bytes size() const { return Bytes(bytes); }

  // In a queue, the instant from which the packet may leave. On a wire, the
  // instant at which it reaches the far end.
  TimePs time;
  QueuePairId queue_pair = kNoId<QueuePairId>;  // Pause frames have none.
  // Number of a data packet in its queue pair. For an acknowledgement, the
  // first number that the receiver lacks.
  PacketNumber number;
  TelemetryId telemetry = kNoId<TelemetryId>;
  LinkId ingress = kNoId<LinkId>;  // Link on which it came to the switch.
  uint16_t bytes = 0;              // Size on the wire.
  uint8_t hop = 0;                 // Links of its path that it was sent on.
  PacketKind kind = PacketKind::kData;
  uint8_t flags = 0;
  // Makes the compiler copy a packet as two whole words of 16 bytes. Without it
  // a copy would read bytes that two stores wrote, for which a processor waits.
  uint8_t padding[3] = {};
};
static_assert(sizeof(Packet) == 32, "there are 10^5 under way");

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PACKET_H_
