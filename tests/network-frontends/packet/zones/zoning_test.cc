#include "network-frontends/packet/zones/zoning.h"

#include <cstdint>
#include <string>
#include <vector>

#include "network-frontends/packet/packet_setup.h"
#include "tests/testing/matchers.h"
#include "tests/testing/rails.h"
#include "tests/testing/small_clusters.h"

namespace astra {
namespace {

using ::astra::testing::FullMesh;
using ::astra::testing::Rails;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

std::vector<uint32_t> ZonesOf(const Zoning& zoning) {
  std::vector<uint32_t> zones;
  for (const ZoneId zone : zoning.zone_of) zones.push_back(zone.index());
  return zones;
}

// The nodes are 8 GPUs, 4 NVSwitches and 2 switches.
TEST(ZoningTest, ServersStayTogetherAndRailsAreDealtOut) {
  const Topology rails = Rails(4, "25ns");
  const Zoning zoning = ValueOrDie(FindZones(PacketSetup(rails, {}), 2));
  EXPECT_EQ(zoning.num_zones, 2U);
  EXPECT_EQ(zoning.lookahead, Nanoseconds(500));
  EXPECT_THAT(ZonesOf(zoning),
              ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1));
}

TEST(ZoningTest, TheLatencyOfSwitchesCounts) {
  const Topology rails = Rails(4, "25ns");
  PacketOptions options;
  options.fabric.latency = Nanoseconds(300);
  // From a switch to a GPU there is none.
  EXPECT_EQ(ValueOrDie(FindZones(PacketSetup(rails, options), 2)).lookahead,
            Nanoseconds(500));
  EXPECT_EQ(PacketSetup(rails, options).DelayOf(LinkId(16)), Nanoseconds(800));
}

// Of 32 directions of cables a server has 6, more than a sixth of them.
TEST(ZoningTest, NoClusterIsMuchMoreThanAZone) {
  const Zoning zoning =
      ValueOrDie(FindZones(PacketSetup(Rails(4, "25ns"), {}), 64));
  EXPECT_EQ(zoning.num_zones, 5U);
  EXPECT_EQ(zoning.lookahead, Nanoseconds(500));
}

TEST(ZoningTest, WithoutDelayThereAreNoZones) {
  const Topology mesh = FullMesh(4, "100Gbps", "0ns");
  EXPECT_THAT(FindZones(PacketSetup(mesh, {}), 2),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "no links with a delay divide the cluster into alike "
                       "zones"));
}

TEST(ZoningTest, WhatMayDependOnAnotherZoneAtOnceIsRefused) {
  const Topology mesh = FullMesh(4, "100Gbps", "500ns");
  const auto why = [&](void (*change)(PacketOptions&)) {
    PacketOptions options;
    change(options);
    const auto zoning = FindZones(PacketSetup(mesh, options), 2);
    return zoning.ok() ? "" : std::string(zoning.status().message());
  };
  EXPECT_EQ(why([](PacketOptions&) {}), "");
  EXPECT_EQ(why([](PacketOptions& o) { o.fabric.pfc = false; }),
            "switches without PFC may lose packets");
  EXPECT_EQ(why([](PacketOptions& o) { o.error_rate = 0.5; }),
            "links with an error rate lose packets");
  EXPECT_EQ(why([](PacketOptions& o) { o.link_events.emplace_back(); }),
            "links change during the run");
  EXPECT_EQ(why([](PacketOptions& o) { o.background.emplace_back(); }),
            "there is background traffic");
  EXPECT_EQ(
      why([](PacketOptions& o) { o.load_balancing = LoadBalancing::kFlowlet; }),
      "switches balance load packet by packet");
  EXPECT_EQ(why([](PacketOptions& o) {
              o.nic.queue_pairs = QueuePairs::kPerMessage;
            }),
            "each message has a queue pair of its own");
  EXPECT_EQ(why([](PacketOptions& o) {
              o.nic.completion = Completion::kAcknowledged;
            }),
            "messages arrive when they are acknowledged");
  EXPECT_EQ(why([](PacketOptions& o) { o.nic.packets_per_ack = 2; }),
            "an acknowledgement answers several packets");
  EXPECT_EQ(why([](PacketOptions& o) { o.congestion.name = "hpcc_pint"; }),
            "the congestion control draws by the number of a queue pair");
  EXPECT_EQ(why([](PacketOptions& o) { o.record.flows = true; }),
            "messages, samples or packets are recorded");
}

}  // namespace
}  // namespace astra
