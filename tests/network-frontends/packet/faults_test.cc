// Links that change, and traffic of others.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/network-frontends/packet/packet_runs.h"

namespace astra {
namespace {

using namespace ::astra::testing;  // NOLINT: what tests are written in.
using ::testing::IsEmpty;

constexpr TimePs kLatency = Nanoseconds(500);

TimePs Time(Bytes bytes, Bandwidth rate = Gbps(400)) {
  return TransferTime(bytes, rate);
}

TEST(LinkEventTest, AFlowGoesOnOnceItsOnlyLinkIsUpAgain) {
  const Topology topology = Chain(2);
  PacketOptions options = Plain();
  options.nic.window = WindowScope::kPath;
  options.link_events = {{Microseconds(5), NodeId(2), NodeId(1), 0},
                         {Microseconds(60), NodeId(1), NodeId(2), 1}};
  PacketBackend network(topology, options);
  const TimePs finish = Finish(network, {From(0, 0, 1, MiB(1))});
  EXPECT_GT(finish, Microseconds(60) + Time(MiB(1)) - Microseconds(5));
  EXPECT_LT(finish, Microseconds(60) + options.nic.retransmission_timeout +
                        Time(256 * kFull));
  EXPECT_GT(network.statistics().num_losses, 0u);
  EXPECT_EQ(network.WhyStuck(), "");
}

TEST(LinkEventTest, AFlowTakesAnotherPathWhereThereIsOne) {
  const Topology topology = TwoSpines(1);
  for (const uint32_t spine : {4U, 5U}) {
    PacketOptions options = Plain();
    options.nic.window = WindowScope::kPath;
    options.link_events = {{Microseconds(5), NodeId(2), NodeId(spine), 0}};
    PacketBackend network(topology, options);
    Finish(network, {From(0, 0, 1, MiB(4))});
    // The other spine has carried the rest, at least.
    const size_t other = spine == 4 ? 4 : 0;
    EXPECT_GT(network.link_bytes()[other], MiB(3).count());
    EXPECT_EQ(network.WhyStuck(), "");
  }
}

// GPU 0 has a link to each of two leaves, which both lead to GPU 1.
TEST(LinkEventTest, ASenderMovesToItsOtherPort) {
  const Topology topology =
      Drawing(2, 1, 0, 2).Cables({{0, 2}, {0, 3}, {1, 2}, {1, 3}}).Build();
  for (const uint32_t leaf : {2U, 3U}) {
    PacketOptions options = Plain();
    options.link_events = {{Nanoseconds(150), NodeId(0), NodeId(leaf), 0}};
    options.nic.retransmission_timeout = Microseconds(50);
    PacketBackend network(topology, options);
    const TimePs finish = Finish(network, {From(0, 0, 1, MiB(1))});
    EXPECT_LT(finish, Microseconds(60) + 2 * Time(256 * kFull));
    const size_t other = leaf == 2 ? 2 : 0;
    EXPECT_GT(network.link_bytes()[other], KiB(1000).count());
  }
}

TEST(LinkEventTest, WithoutAnotherPathTheNetworkEndsAndSaysWhy) {
  const Topology topology = Chain(2);
  for (const auto& control : {"none", "dcqcn", "hpcc", "swift", "uec"}) {
    PacketOptions options = Plain();
    options.congestion.name = control;
    options.link_events = {{Microseconds(5), NodeId(2), NodeId(1), 0}};
    PacketBackend network(topology, options);
    network.Send(From(0, 0, 1, MiB(1)));
    EXPECT_THAT(Arrivals(network, 1), IsEmpty());
    EXPECT_EQ(network.WhyStuck(),
              "no links that are up lead from GPU 0 to GPU 1");
  }
}

TEST(LinkEventTest, TimeFollowsTheRate) {
  const Topology topology = Chain(2);
  PacketOptions options = Plain();
  options.link_events = {{TimePs(), NodeId(0), NodeId(2), 0.25}};
  PacketBackend network(topology, options);
  EXPECT_EQ(Finish(network, {From(0, 0, 1, 100 * KiB(4))}),
            100 * Time(kFull, Gbps(100)) + Time(kFull) + 2 * kLatency);
}

// The 50th packet is on its way and keeps its rate.
TEST(LinkEventTest, ALinkThatSlowsDownDoesSoFromTheNextPacketOn) {
  const Topology topology = Chain(1);
  PacketOptions options = Plain();
  options.link_events = {
      {50 * Time(kFull) - TimePs(1), NodeId(0), NodeId(1), 0.5}};
  PacketBackend network(topology, options);
  EXPECT_EQ(Finish(network, {From(0, 0, 1, 100 * KiB(4))}),
            50 * Time(kFull) + 50 * Time(kFull, Gbps(200)) + kLatency);
}

// Another port of the sender becomes as good as the one that it uses, once all
// packets have left there.
TEST(LinkEventTest, WhatHasLeftBeforeIsNotChanged) {
  const Topology topology =
      Drawing(2, 1, 0, 2).Cables({{0, 2}, {0, 3}, {1, 2}, {1, 3}}).Build();
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    PacketOptions options = Plain();
    options.seed = seed;
    options.link_events = {{TimePs(), NodeId(1), NodeId(3), 0},
                           {Nanoseconds(450), NodeId(1), NodeId(3), 1}};
    PacketBackend network(topology, options);
    EXPECT_EQ(Finish(network, {From(0, 0, 1, KiB(16))}),
              5 * Time(kFull) + 2 * kLatency);
  }
}

// A switch that was filling up pauses the sender again after the link was down.
TEST(LinkEventTest, PfcWorksOnALinkThatWasDown) {
  const Topology topology = Incast(4);
  PacketOptions options = Plain();
  options.fabric.buffer_share = 1e-9;
  options.nic.retransmission_timeout = Microseconds(50);
  for (int64_t i = 0; i < 4; ++i) {
    options.link_events.push_back(
        {Microseconds(5 + i), NodeId(0), NodeId(5), 0});
    options.link_events.push_back(
        {Microseconds(5 + i) + Nanoseconds(500), NodeId(0), NodeId(5), 1});
  }
  PacketBackend network(topology, options);
  Finish(network, ToLast(4, MiB(1)));
  EXPECT_EQ(network.statistics().num_drops, 0u);
}

// The switch drains at 1 Gbps and has told the sender to pause when their link
// goes down. It still has no room when the link comes up.
TEST(LinkEventTest, ALinkThatComesUpIsStillPaused) {
  const Topology topology = Drawing(2, 1, 0, 1)
                                .Cable(0, 2, "400Gbps", "500ns")
                                .Cable(2, 1, "1Gbps", "500ns")
                                .Build();
  PacketOptions options = Plain();
  options.fabric.buffer = KiB(512);
  options.record.pfc = true;
  options.link_events = {{Microseconds(40), NodeId(0), NodeId(2), 0},
                         {Microseconds(41), NodeId(0), NodeId(2), 1}};
  PacketBackend network(topology, options);
  network.Send(From(0, 0, 1, MiB(1)));
  AdvanceTo(Microseconds(39), network);
  EXPECT_EQ(network.statistics().links[0].pauses, 1u);
  const double sent = network.link_bytes()[0];
  AdvanceTo(Microseconds(100), network);
  EXPECT_EQ(network.link_bytes()[0], sent);
  ASSERT_EQ(network.statistics().pfc.size(), 3u);  // Paused, down, up.
  EXPECT_EQ(network.statistics().pfc[2].time, Microseconds(41));
  EXPECT_TRUE(network.statistics().pfc[2].is_pause);
  EXPECT_EQ(Arrivals(network, 1).size(), 1u);
  EXPECT_EQ(network.statistics().num_drops, 0u);
}

TEST(BackgroundTest, ItsMessagesAreRecorded) {
  const Topology topology = Incast(2);
  PacketOptions options = Plain();
  options.record.flows = true;
  options.background = {{NodeId(1), NodeId(2), KiB(4), Microseconds(1),
                         Microseconds(2), Microseconds(5)}};
  PacketBackend network(topology, options);
  AdvanceTo(Microseconds(100), network);
  const std::vector<FlowRecord>& flows = network.statistics().flows;
  ASSERT_EQ(flows.size(), 3u);
  EXPECT_EQ(flows[0].channel, kBackgroundChannel);
  EXPECT_EQ(flows[0].start, Microseconds(2));
  EXPECT_EQ(flows[0].source, NodeId(1));
}

// Others send half of what the link can, the flow all of it: two thirds are its
// share of a queue that is served as it comes.
TEST(BackgroundTest, TakesItsShareOfTheLinkAndDoesNotKeepTheRunGoing) {
  const Topology topology = Incast(2);
  PacketOptions options = Plain();
  BackgroundTraffic others{NodeId(1),  NodeId(2),
                           5 * KiB(4), 2 * Time(5 * kFull),
                           TimePs(),   Microseconds(1'000'000'000)};
  options.background = {others};
  PacketBackend network(topology, options);
  const TimePs finish = Finish(network, {From(0, 0, 2, MiB(4))});
  EXPECT_GT(10 * finish, 14 * Time(1024 * kFull));
  EXPECT_LT(10 * finish, 16 * Time(1024 * kFull));
  std::vector<MessageId> arrived;
  network.AdvanceTo(kEndless, &arrived);
  EXPECT_THAT(arrived, IsEmpty());
}

TEST(BackgroundTest, StopsBeforeItsEnd) {
  const Topology topology = Incast(2);
  PacketOptions options = Plain();
  options.background = {{NodeId(1), NodeId(2), KiB(4), Microseconds(1),
                         Microseconds(2), Microseconds(5)}};
  PacketBackend network(topology, options);
  AdvanceTo(Microseconds(100), network);
  EXPECT_EQ(network.link_bytes()[5], 3 * 4096);  // At 2, 3 and 4 us.
}

}  // namespace
}  // namespace astra
