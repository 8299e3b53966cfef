#include "network-frontends/packet/port.h"

#include <cstdint>
#include <memory_resource>

#include "astra-core/base/units.h"
#include "network-frontends/packet/huge_pages.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

// A port of 8 Gbps, at which a byte takes 1000 ps. It knows data packets of 100
// B and acknowledgements of 20 B.
Port MakePort() {
  Port port;
  port.rate = Bandwidth(8'000'000'000);
  port.known_bytes = {100, 20};
  port.known_ps = {100'000, 20'000};
  return port;
}

Packet MakePacket(PacketKind kind, uint16_t bytes) {
  Packet packet;
  packet.kind = kind;
  packet.bytes = bytes;
  return packet;
}

TEST(PortTest, CountsPacketsOfAnySize) {
  Port port = MakePort();
  EXPECT_EQ(port.Count(MakePacket(PacketKind::kData, 100)), TimePs(100'000));
  EXPECT_EQ(port.Count(MakePacket(PacketKind::kData, 100)), TimePs(100'000));
  EXPECT_EQ(port.Count(MakePacket(PacketKind::kAck, 20)), TimePs(20'000));
  EXPECT_EQ(port.Count(MakePacket(PacketKind::kData, 20)), TimePs(20'000));
  EXPECT_EQ(port.Count(MakePacket(PacketKind::kNack, 100)), TimePs(100'000));
  EXPECT_EQ(port.num_sent(), 5U);
  const LinkTraffic traffic = port.Traffic();
  EXPECT_EQ(traffic.busy, TimePs(340'000));
  EXPECT_EQ(traffic.bytes, 340U);
  EXPECT_EQ(traffic.packets, 5U);
  EXPECT_EQ(traffic.data_bytes, 220U);
  EXPECT_EQ(traffic.data_packets, 3U);
}

// The number of packets of a size has 32 bits; the sums have 64.
TEST(PortTest, CountsMorePacketsThanTheShortCounterHolds) {
  Port port = MakePort();
  port.num_known[0] = UINT32_MAX - 1;
  port.Count(MakePacket(PacketKind::kData, 100));
  EXPECT_EQ(port.num_known[0], 0U);
  port.Count(MakePacket(PacketKind::kData, 100));
  EXPECT_EQ(port.num_sent(), uint64_t{UINT32_MAX} + 1);
  EXPECT_EQ(port.Traffic().bytes, (uint64_t{UINT32_MAX} + 1) * 100);
}

TEST(PortTest, TheFirstArrivalIsTheEarliestOfAllClasses) {
  std::pmr::unsynchronized_pool_resource memory(HugePages());
  Port port;
  EXPECT_EQ(port.FirstArrival().time, kNever);
  const auto put = [&](TrafficClass traffic_class, int64_t time_ps) {
    Packet& packet = port.lane(traffic_class).Append(memory);
    packet = Packet();
    packet.time = TimePs(time_ps);
    port.lane(traffic_class).PutOnWire();
  };
  put(TrafficClass::kData, 7);
  EXPECT_EQ(port.FirstArrival().time, TimePs(7));
  EXPECT_EQ(port.FirstArrival().traffic_class, TrafficClass::kData);
  put(TrafficClass::kControl, 7);  // Before data of the same instant.
  EXPECT_EQ(port.FirstArrival().traffic_class, TrafficClass::kControl);
}

TEST(LaneTest, PacketsKeepTheirOrderAsTheRingGrows) {
  std::pmr::unsynchronized_pool_resource memory(HugePages());
  Lane lane;
  uint32_t next = 0;
  uint32_t first = 0;
  for (uint32_t round = 0; round < 100; ++round) {
    for (uint32_t i = 0; i < 3; ++i, ++next) {
      Packet& packet = lane.Append(memory);
      packet = Packet();
      packet.number = PacketNumber(next);
    }
    lane.PutOnWire();
    ASSERT_EQ(lane.first_on_wire().number, PacketNumber(first++));
    lane.PopFromWire();
  }
  for (uint32_t i = 0; i < lane.num_packets(); ++i) {
    ASSERT_EQ(lane.at(i).number, PacketNumber(first + i));
  }
}

TEST(HugePagesTest, LargeMemoryIsAlignedToThem) {
  constexpr size_t kBytes = size_t{5} << 20;
  void* const memory = HugePages()->allocate(kBytes, 64);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % (size_t{2} << 20), 0U);
  HugePages()->deallocate(memory, kBytes, 64);
}

}  // namespace
}  // namespace astra
