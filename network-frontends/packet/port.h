// A port and the link behind it, with the packets that wait and those on the
// wire.
//
// A packet lies in one ring from its arrival at the port until it is at the far
// end of the link; leaving the queue moves a boundary and no packet. There is a
// ring for each traffic class, and the classes share the wire.
//
// Departures are worked out late: only when something else happens at the port,
// or when the next packet arrives at the far end. Nothing can have changed
// earlier departures. So a packet costs one event for each link, and a port has
// one pending event, whatever waits or is under way.

#ifndef NETWORK_FRONTENDS_PACKET_PORT_H_
#define NETWORK_FRONTENDS_PACKET_PORT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/replay_support.h"

namespace astra {

// Bytes of a packet that a switch must have before it cuts through.
inline constexpr Bytes kCutThroughHead{64};

// Returns how long a packet must have been leaving before a switch that cuts
// through may pass it on: until its head of kCutThroughHead is there, after
// `head`, or longer if the next link is faster and would run dry. `here` and
// `next` are the times of the whole packet on the two links.
inline TimePs CutThroughTime(TimePs head, TimePs here, TimePs next) {
  return std::max(head, here - next);
}

// Packets of an earlier class leave first but interrupt no packet.
enum class TrafficClass : uint8_t { kControl, kData };
inline constexpr size_t kNumTrafficClasses = 2;

using NicId = Id<struct NicTag>;        // Index into Nics.
using SwitchId = Id<struct SwitchTag>;  // Index into SwitchBuffers.

// A ring of packets: first those on the wire, then those that wait.
class Lane {
 public:
  bool has_queued() const { return split_ != tail_; }
  bool has_wire() const { return head_ != split_; }
  uint32_t num_packets() const { return tail_ - head_; }
  uint32_t num_on_wire() const { return split_ - head_; }

  Packet& first_queued() { return packets_[split_ & mask_]; }
  const Packet& first_queued() const { return packets_[split_ & mask_]; }
  Packet& first_on_wire() { return packets_[head_ & mask_]; }
  const Packet& first_on_wire() const { return packets_[head_ & mask_]; }

  // Returns when the first packet on the wire reaches the far end; kNever if
  // none is on it. It does so without a branch, which would often be foretold
  // wrongly.
  TimePs FirstArrival() const {
    const TimePs time = first_on_wire().time;
    return has_wire() ? time : kNever;
  }

  // Fetch into the cache the first packets on the wire, and where the next to
  // leave and the next to come are. See prefetcher.cc for
  // the attribute.
  [[gnu::always_inline]] void PrefetchWire() const {
    if (head_ == tail_) return;
    __builtin_prefetch(&packets_[head_ & mask_]);
    __builtin_prefetch(&packets_[(head_ + 1) & mask_]);
  }
  [[gnu::always_inline]] void PrefetchQueue() const {
    __builtin_prefetch(&packets_[split_ & mask_]);
    __builtin_prefetch(&packets_[tail_ & mask_]);
  }

  // Returns the i-th packet of the ring.
  Packet& at(uint32_t i) { return packets_[(head_ + i) & mask_]; }

  // Appends a packet and returns it; its fields are still to be set. A larger
  // ring is taken from `memory`, which owns it.
  Packet& Append(std::pmr::memory_resource& memory) {
    if (tail_ - head_ == mask_ + 1) Grow(memory);
    return packets_[tail_++ & mask_];
  }
  void PutOnWire() { ++split_; }  // Moves the first waiting packet.
  // Removes the first packet. An empty ring begins anew, where memory is warm.
  void PopFromWire() {
    if (++head_ == tail_) head_ = split_ = tail_ = 0;
  }

 private:
  static constexpr Packet kNone{};

  void Grow(std::pmr::memory_resource& memory);

  // The ring; while it has no room, a packet that is never changed.
  Packet* packets_ = const_cast<Packet*>(&kNone);
  uint32_t mask_ = UINT32_MAX;  // Size of the ring, less 1.
  uint32_t head_ = 0;
  uint32_t split_ = 0;
  uint32_t tail_ = 0;
};

// Sizes that most packets have. Their serialisation times need no division, and
// their packets are counted by one number.
enum class KnownSize : uint8_t { kFullData, kAck };
inline constexpr size_t kNumKnownSizes = 2;

// Fields are ordered by use. The first cache line is touched by each event of
// the port, the second by each packet that comes or leaves, the others rarely.
struct alignas(128) Port {
  TimePs busy_until;      // All earlier departures are decided.
  TimePs event = kNever;  // Pending event of the port.
  std::array<Lane, kNumTrafficClasses> lanes;

  Bytes queued;  // Bytes of data that wait.
  Bytes max_queued;
  TimePs propagation;           // Includes the latency of the far switch.
  Bytes mark_above{INT64_MAX};  // Longest queue without ECN marks.
  // Serialisation times of known sizes, in picoseconds, and how many packets of
  // each size have begun to leave since `carried` was brought up to date.
  std::array<uint32_t, kNumKnownSizes> known_ps{};
  std::array<uint32_t, kNumKnownSizes> num_known{};
  std::array<uint16_t, kNumKnownSizes> known_bytes{};  // 0: not known.
  bool is_event_of_wire : 1 = false;  // False: a packet may leave.
  bool is_paused : 1 = false;         // PFC holds back data.
  bool is_watched : 1 = false;        // Each departure is an event.
  bool marks : 1 = false;             // Packets may be marked with ECN.
  bool has_errors : 1 = false;
  bool cuts_through : 1 = false;  // The far end may forward packets early.
  bool is_down : 1 = false;
  bool leaves_zone : 1 = false;   // Another zone takes what arrives.
  NicId nic = kNoId<NicId>;       // NIC that sends here.
  SwitchId at = kNoId<SwitchId>;  // The source, if it is a switch.

  NodeId target;  // Node at the far end.
  NodeId source;
  LinkTraffic carried;     // Without the packets in `num_known`.
  Bandwidth rate;          // 0: the link is down.
  Bandwidth nominal_rate;  // Rate in the topology.
  TimePs resolution{1};
  double error_rate = 0;  // Probability that a packet is lost.

  Lane& lane(TrafficClass c) { return lanes[static_cast<size_t>(c)]; }

  bool has_queued() const {
    return lanes[0].has_queued() || lanes[1].has_queued();
  }
  // The packet that is the next to reach the far end.
  struct NextArrival {
    TimePs time;  // kNever: nothing is on the wire.
    TrafficClass traffic_class;
  };
  // Of packets that arrive at one instant, those of an earlier class are first.
  NextArrival FirstArrival() const {
    const TimePs control = lanes[0].FirstArrival();
    const TimePs data = lanes[1].FirstArrival();
    return data < control ? NextArrival{data, TrafficClass::kData}
                          : NextArrival{control, TrafficClass::kControl};
  }

  // Counts a packet that begins to leave, and returns its serialisation time.
  TimePs Count(const Packet& packet) {
    const size_t i = packet.kind == PacketKind::kData ? 0 : 1;
    if (packet.bytes != known_bytes[i]) return CountOther(packet);
    if (++num_known[i] == UINT32_MAX) CarryForward();
    return TimePs(known_ps[i]);
  }
  TimePs CountOther(const Packet& packet);
  // Brings `carried` up to date.
  void CarryForward() {
    carried = Traffic();
    num_known = {};
  }

  // Returns all that the port has carried.
  LinkTraffic Traffic() const;
  // Returns the number of packets that have begun to leave.
  uint64_t num_sent() const {
    return carried.packets + num_known[0] + num_known[1];
  }

  // Returns the serialisation time of `size`, rounded up to a picosecond, or
  // down to a multiple of a coarser resolution. Requires that the link is up.
  TimePs SerialisationTime(Bytes size) const {
    for (size_t i = 0; i < kNumKnownSizes; ++i) {
      if (size == Bytes(known_bytes[i])) return TimePs(known_ps[i]);
    }
    return Divide(size);
  }
  TimePs Divide(Bytes size) const;
};
static_assert(sizeof(Port) == 256, "there are 10^5 of them");
static_assert(offsetof(Port, queued) == 64, "a cache line");
static_assert(offsetof(Port, target) == 128, "a cache line");

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PORT_H_
