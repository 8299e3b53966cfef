#include "network-frontends/packet/port.h"

#include <algorithm>
#include <memory>

namespace astra {

void Lane::Grow(std::pmr::memory_resource& memory) {
  const uint32_t size = mask_ + 1;
  const uint32_t larger = std::max(size * 2, 4U);
  std::pmr::polymorphic_allocator<Packet> allocator(&memory);
  Packet* const packets = allocator.allocate(larger);
  std::uninitialized_default_construct_n(packets, larger);
  for (uint32_t i = head_; i != tail_; ++i) {
    packets[i & (larger - 1)] = packets_[i & mask_];
  }
  if (size > 0) allocator.deallocate(packets_, size);
  packets_ = packets;
  mask_ = larger - 1;
}

// Counts a packet whose size is not known, and returns its serialisation time.
TimePs Port::CountOther(const Packet& packet) {
  const TimePs time = Divide(packet.size());
  carried.busy += time;
  carried.bytes += packet.bytes;
  ++carried.packets;
  if (packet.kind == PacketKind::kData) {
    carried.data_busy += time;
    carried.data_bytes += packet.bytes;
    ++carried.data_packets;
  }
  return time;
}

LinkTraffic Port::Traffic() const {
  LinkTraffic all = carried;
  for (size_t i = 0; i < kNumKnownSizes; ++i) {
    all.busy += int64_t{num_known[i]} * TimePs(known_ps[i]);
    all.bytes += uint64_t{num_known[i]} * known_bytes[i];
    all.packets += num_known[i];
  }
  constexpr auto kFullData = static_cast<size_t>(KnownSize::kFullData);
  all.data_busy += int64_t{num_known[kFullData]} * TimePs(known_ps[kFullData]);
  all.data_bytes += uint64_t{num_known[kFullData]} * known_bytes[kFullData];
  all.data_packets += num_known[kFullData];
  all.max_queued = max_queued;
  return all;
}

TimePs Port::Divide(Bytes size) const {
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

}  // namespace astra
