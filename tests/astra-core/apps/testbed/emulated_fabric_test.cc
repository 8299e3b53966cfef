#include "astra-core/apps/testbed/emulated_fabric.h"

#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"

namespace astra {
namespace {

using ::astra::testing::Drawing;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

constexpr EmulatedFabric::Options kDeep = {.queue = MiB(1)};
constexpr TimePs kEnd = Microseconds(1'000'000);

// GPUs 0 to 2 below switch 3. 1000 B take 8 us on a link.
Topology Star() {
  return Drawing(3, 1, 0, 1)
      .Cable(0, 3, "1Gbps", "10us")
      .Cable(1, 3, "1Gbps", "10us")
      .Cable(2, 3, "1Gbps", "10us")
      .Build();
}

WirePacket Packet(uint32_t source, uint32_t target, uint32_t index,
                  int64_t bytes = 1000) {
  return {.source = RankId(source),
          .target = RankId(target),
          .index = index,
          .bytes = Bytes(bytes)};
}

// Microseconds at which packets arrive, or minus those at which one is dropped.
std::vector<double> Times(EmulatedFabric& fabric, TimePs until = kEnd) {
  std::vector<PacketOutcome> outcomes;
  fabric.AdvanceTo(until, &outcomes);
  std::vector<double> times;
  for (const PacketOutcome& outcome : outcomes) {
    times.push_back((outcome.is_dropped ? -1 : 1) *
                    ToMicroseconds(outcome.time));
  }
  return times;
}

TEST(EmulatedFabricTest, StoresAndForwardsAtEachSwitch) {
  const Topology topology = Star();
  EmulatedFabric fabric = ValueOrDie(EmulatedFabric::Create(topology, kDeep));
  fabric.Send(Microseconds(5), Packet(0, 1, 0));
  fabric.Send(Microseconds(5), Packet(0, 1, 1));
  // 5 + 8 + 10 + 8 + 10; the second follows by one packet.
  EXPECT_THAT(Times(fabric), ::testing::ElementsAre(41, 49));
  EXPECT_FALSE(fabric.is_busy());
  EXPECT_EQ(fabric.counts(LinkId(0)).packets, 2);
  EXPECT_EQ(fabric.counts(LinkId(0)).bytes, Bytes(2000));
}

TEST(EmulatedFabricTest, InterleavesPacketsOfSeveralSenders) {
  const Topology topology = Star();
  EmulatedFabric fabric = ValueOrDie(EmulatedFabric::Create(topology, kDeep));
  for (uint32_t i = 0; i < 2; ++i) {
    fabric.Send(TimePs(), Packet(0, 1, i));
    fabric.Send(Microseconds(1), Packet(2, 1, i));
  }
  // At the switch from 18 us on, one after the other.
  std::vector<PacketOutcome> outcomes;
  fabric.AdvanceTo(kEnd, &outcomes);
  std::vector<uint32_t> sources;
  for (const PacketOutcome& outcome : outcomes) {
    sources.push_back(outcome.packet.source.index());
  }
  EXPECT_THAT(sources, ::testing::ElementsAre(0, 2, 0, 2));
  EXPECT_EQ(outcomes.back().time, Microseconds(18 + 4 * 8 + 10));
}

// A late call changes no time: what counts is when packets were sent.
TEST(EmulatedFabricTest, DoesNotDependOnWhenItIsAdvanced) {
  const Topology topology = Star();
  EmulatedFabric fabric = ValueOrDie(EmulatedFabric::Create(topology, kDeep));
  fabric.Send(TimePs(), Packet(0, 1, 0));
  EXPECT_THAT(Times(fabric, Microseconds(35)), ::testing::IsEmpty());
  EXPECT_TRUE(fabric.is_busy());
  EXPECT_THAT(Times(fabric, Microseconds(36)), ::testing::ElementsAre(36));
}

TEST(EmulatedFabricTest, DropsWhatASwitchHasNoRoomFor) {
  const Topology topology = Star();
  EmulatedFabric fabric =
      ValueOrDie(EmulatedFabric::Create(topology, {.queue = Bytes(2000)}));
  for (uint32_t i = 0; i < 3; ++i) {
    fabric.Send(TimePs(), Packet(0, 1, i));
    fabric.Send(TimePs(), Packet(2, 1, i));
  }
  // Two packets come every 8 us and one leaves. The queue, with the packet on
  // the link, has room for two: from the third on one of each two is lost.
  EXPECT_THAT(Times(fabric), ::testing::ElementsAre(-26, -34, 36, 44, 52, 60));
  EXPECT_EQ(fabric.counts(LinkId(3)).dropped_packets, 2);
  EXPECT_EQ(fabric.counts(LinkId(3)).longest_queue, Bytes(2000));
}

TEST(EmulatedFabricTest, NeverDropsAtANic) {
  const Topology topology = Star();
  EmulatedFabric fabric =
      ValueOrDie(EmulatedFabric::Create(topology, {.queue = Bytes(1000)}));
  for (uint32_t i = 0; i < 10; ++i) fabric.Send(TimePs(), Packet(0, 1, i));
  EXPECT_EQ(fabric.UplinkBacklog(TimePs(), RankId(0)), Microseconds(80));
  EXPECT_EQ(fabric.UplinkBacklog(TimePs(), RankId(1)), TimePs());
  EXPECT_EQ(Times(fabric).back(), 108);
}

TEST(EmulatedFabricTest, RefusesHostsThatOnlyAHostJoins) {
  const Topology topology =
      Drawing(3, 1, 0, 0).Cables({{0, 1}, {1, 2}}).Build();
  EXPECT_THAT(EmulatedFabric::Create(topology, kDeep),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "no path from GPU 0 to GPU 2: GPUs do not forward"));
}

}  // namespace
}  // namespace astra
