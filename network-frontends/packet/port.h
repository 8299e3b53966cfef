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
#include <memory>
#include <utility>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/packet.h"

namespace astra {

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

  // Fetch into the cache the first packets on the wire, and where the next to
  // leave and the next to come are. See prefetcher.cc for the attribute.
  [[gnu::always_inline]] void PrefetchWire() const {
    if (head_ == tail_) return;
    __builtin_prefetch(&packets_[head_ & mask_]);
    __builtin_prefetch(&packets_[(head_ + 1) & mask_]);
  }
  [[gnu::always_inline]] void PrefetchQueue() const {
    if (packets_ == nullptr) return;
    __builtin_prefetch(&packets_[split_ & mask_]);
    __builtin_prefetch(&packets_[tail_ & mask_]);
  }

  // Returns the i-th packet of the ring.
  Packet& at(uint32_t i) { return packets_[(head_ + i) & mask_]; }

  // Appends a packet and returns it; its fields are still to be set.
  Packet& Append() {
    if (tail_ - head_ == mask_ + 1) Grow();
    return packets_[tail_++ & mask_];
  }
  void PutOnWire() { ++split_; }  // Moves the first waiting packet.
  // Removes the first packet. An empty ring begins anew, where memory is warm.
  void PopFromWire() {
    if (++head_ == tail_) head_ = split_ = tail_ = 0;
  }

 private:
  void Grow() {
    const uint32_t larger = std::max((mask_ + 1) * 2, 4U);
    auto packets = std::make_unique<Packet[]>(larger);
    for (uint32_t i = head_; i != tail_; ++i) {
      packets[i & (larger - 1)] = packets_[i & mask_];
    }
    packets_ = std::move(packets);
    mask_ = larger - 1;
  }

  std::unique_ptr<Packet[]> packets_;
  uint32_t mask_ = UINT32_MAX;  // Size of the ring, less 1.
  uint32_t head_ = 0;
  uint32_t split_ = 0;
  uint32_t tail_ = 0;
};

// Fields are ordered by use: the first two cache lines are touched for each
// packet, the third for each packet that leaves, the fourth rarely.
struct alignas(64) Port {
  TimePs busy_until;      // All earlier departures are decided.
  TimePs event = kNever;  // Pending event of the port.
  NodeId target;          // Node at the far end.
  NodeId source;
  NicId nic = kNoId<NicId>;       // NIC that sends here.
  SwitchId at = kNoId<SwitchId>;  // The source, if it is a switch.
  Bytes queued;                   // Bytes of data that wait.
  bool is_event_of_wire = false;  // False: a packet may leave.
  bool is_paused = false;         // PFC holds back data.
  bool is_watched = false;        // Each departure is an event.
  bool marks = false;             // Packets may be marked with ECN.
  bool has_errors = false;
  bool cuts_through = false;  // The far end may forward packets early.
  bool is_down = false;
  TimePs propagation;  // Includes the latency of the far switch.

  std::array<Lane, kNumTrafficClasses> lanes;

  // Cached serialisation times; they need a division, and packets have few
  // sizes.
  uint32_t known_bytes = 0;
  uint32_t known_ack_bytes = 0;
  TimePs known_time;
  TimePs known_ack_time;
  TimePs busy;  // Time for which packets have been leaving.
  uint64_t sent_bytes = 0;
  uint64_t sent_packets = 0;
  uint64_t sent_data_bytes = 0;
  uint64_t sent_data_packets = 0;
  Bytes max_queued;

  Bandwidth rate;          // 0: the link is down.
  Bandwidth nominal_rate;  // Rate in the topology.
  TimePs resolution{1};
  double error_rate = 0;  // Probability that a packet is lost.

  Lane& lane(TrafficClass c) { return lanes[static_cast<size_t>(c)]; }

  bool has_queued() const {
    return lanes[0].has_queued() || lanes[1].has_queued();
  }
  // Returns the first lane with a packet that is at the far end by `time`, or
  // nullptr.
  Lane* LaneArrivedBy(TimePs time) {
    for (Lane& lane : lanes) {
      if (lane.has_wire() && lane.first_on_wire().time <= time) return &lane;
    }
    return nullptr;
  }
  // Returns when the first packet on the wire reaches the far end; kNever if
  // none is on it.
  TimePs FirstArrival() const {
    TimePs first = kNever;
    for (const Lane& lane : lanes) {
      if (lane.has_wire()) first = std::min(first, lane.first_on_wire().time);
    }
    return first;
  }

  // Returns the serialisation time of `size`, rounded up to a picosecond, or
  // down to a multiple of a coarser resolution. Requires that the link is up.
  TimePs SerialisationTime(Bytes size) const {
    if (size == Bytes(known_bytes)) return known_time;
    if (size == Bytes(known_ack_bytes)) return known_ack_time;
    return Divide(size);
  }
  TimePs Divide(Bytes size) const {
    // Up to 2 MB the product fits into 64 bits, whose division is faster.
    constexpr uint64_t kBitPsPerByteSecond = 8'000'000'000'000;
    const auto bits_per_s = static_cast<uint64_t>(rate.count());
    const auto bytes = static_cast<uint64_t>(size.count());
    const TimePs exact =
        bytes > 2'000'000
            ? TransferTime(size, rate)
            : TimePs(static_cast<int64_t>(
                  (bytes * kBitPsPerByteSecond + bits_per_s - 1) / bits_per_s));
    if (resolution == TimePs(1)) return exact;
    return TimePs(exact.count() - exact.count() % resolution.count());
  }
};
static_assert(sizeof(Port) == 256, "there are 10^5 of them");

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PORT_H_
