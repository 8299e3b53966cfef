// What links, NICs and messages take where nothing stands in the way, to the
// picosecond.

#include "network-frontends/packet/packet_backend.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/network-frontends/packet/packet_runs.h"
#include "tests/testing/small_clusters.h"

namespace astra {
namespace {

using namespace ::astra::testing;  // NOLINT: what tests are written in.
using ::testing::SizeIs;

constexpr TimePs kLatency = Nanoseconds(500);

TimePs Time(Bytes bytes, Bandwidth rate = Gbps(400)) {
  return TransferTime(bytes, rate);
}

// One packet of 1000 + 82 B.
class AlonePacketTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  const int64_t num_links_ = GetParam();
  const Topology topology_ = Chain(GetParam());
  PacketOptions options_ = Plain();
};

TEST_P(AlonePacketTest, SerialisesAtEachSwitch) {
  options_.fabric.latency = Nanoseconds(300);
  PacketBackend network(topology_, options_);
  EXPECT_EQ(Finish(network, {From(0, 0, 1, Bytes(1000))}),
            num_links_ * (Time(Bytes(1082)) + kLatency) +
                (num_links_ - 1) * Nanoseconds(300));
}

TEST_P(AlonePacketTest, CutsThroughSwitchesAfter64Bytes) {
  options_.fabric.switching = Switching::kCutThrough;
  options_.fabric.latency = Nanoseconds(300);
  PacketBackend network(topology_, options_);
  EXPECT_EQ(Finish(network, {From(0, 0, 1, Bytes(1000))}),
            (num_links_ - 1) * (Time(Bytes(64)) + kLatency + Nanoseconds(300)) +
                Time(Bytes(1082)) + kLatency);
}

TEST_P(AlonePacketTest, HasArrivedAtTheSourceOnceItsAcknowledgementIsThere) {
  options_.nic.completion = Completion::kAcknowledged;
  PacketBackend network(topology_, options_);
  EXPECT_EQ(Finish(network, {From(0, 0, 1, Bytes(1000))}),
            num_links_ * (Time(Bytes(1082)) + Time(Bytes(86)) + 2 * kLatency));
}

TEST_P(AlonePacketTest, MayBeEmpty) {
  PacketBackend network(topology_, options_);
  EXPECT_EQ(Finish(network, {From(0, 0, 1, Bytes(0))}),
            num_links_ * (Time(Bytes(82)) + kLatency));
}

INSTANTIATE_TEST_SUITE_P(Links, AlonePacketTest, ::testing::Range(1U, 5U),
                         ::testing::PrintToStringParamName());

// The last packet is short and follows the last full one closely.
TEST(PacketBackendTest, PacketsFollowOneAnotherAtTheRateOfTheLink) {
  const Topology topology = Chain(3);
  PacketBackend network(topology, Plain());
  EXPECT_EQ(Finish(network, {From(0, 0, 1, Bytes(100 * 4096 + 10))}),
            3 * (Time(kFull) + kLatency) + 99 * Time(kFull) + Time(Bytes(92)));
}

TEST(PacketBackendTest, PacketsFollowOneAnotherAtTheSlowestLink) {
  const Topology topology = Drawing(2, 1, 0, 2)
                                .Cable(0, 2, "400Gbps", "500ns")
                                .Cable(2, 3, "100Gbps", "2us")
                                .Cable(3, 1, "200Gbps", "0ns")
                                .Build();
  PacketBackend network(topology, Plain());
  EXPECT_EQ(Finish(network, {From(0, 0, 1, 100 * KiB(4))}),
            Time(kFull) + Time(kFull, Gbps(100)) + Time(kFull, Gbps(200)) +
                Nanoseconds(2500) + 99 * Time(kFull, Gbps(100)));
}

// A packet may not leave a switch faster than it comes in: its last bit is
// there when it is needed.
TEST(PacketBackendTest, CutThroughOntoAFasterLinkEndsWithThePacket) {
  const Topology topology = Drawing(2, 1, 0, 1)
                                .Cable(0, 2, "100Gbps", "500ns")
                                .Cable(2, 1, "400Gbps", "500ns")
                                .Build();
  PacketOptions options = Plain();
  options.fabric.switching = Switching::kCutThrough;
  PacketBackend network(topology, options);
  EXPECT_EQ(Finish(network, {From(0, 0, 1, KiB(4))}),
            Time(kFull, Gbps(100)) + 2 * kLatency);
}

// 4178 B at 2880 Gbps take 11605.6 ps: each packet, rounded up.
TEST(PacketBackendTest, NoPacketIsFasterThanItsLink) {
  const Topology topology = Chain(1, "2880Gbps", "0ns");
  PacketBackend network(topology, Plain());
  EXPECT_EQ(Time(kFull, Gbps(2880)), TimePs(11606));
  EXPECT_EQ(Finish(network, {From(0, 0, 1, 1000 * KiB(4))}),
            1000 * TimePs(11606));
}

TEST(PacketBackendTest, FlowsThroughOneLinkShareItEqually) {
  const Topology topology = Incast(5);
  PacketBackend network(topology, Plain());
  for (const Message& message : ToLast(5, MiB(1))) network.Send(message);
  const std::map<uint32_t, TimePs> times = Arrivals(network, 5);
  ASSERT_THAT(times, SizeIs(5));
  const TimePs last = 2 * kLatency + Time(kFull) + 1280 * Time(kFull);
  EXPECT_EQ(network.now(), last);
  for (const auto& [id, time] : times) EXPECT_GT(time, last - 5 * Time(kFull));
}

TEST(PacketBackendTest, QueuePairsOfOneNicTakeTurns) {
  const Topology topology = Chain(1);
  PacketBackend network(topology, Plain());
  for (uint32_t i = 0; i < 5; ++i) {
    network.Send(From(i, 0, 1, MiB(1), i));
  }
  const std::map<uint32_t, TimePs> times = Arrivals(network, 5);
  const TimePs last = kLatency + 1280 * Time(kFull);
  for (uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(times.at(i), last - int64_t{4 - i} * Time(kFull));
  }
}

// The second message comes as the last bit of the first packet leaves. It is
// its turn then, before the second packet of the first message.
TEST(PacketBackendTest, WhatComesAsThePortBecomesFreeMayHaveItsTurn) {
  const Topology topology = Chain(1);
  PacketBackend network(topology, Plain());
  network.Send(From(0, 0, 1, KiB(12), 0));
  AdvanceTo(Time(kFull), network);
  network.Send(From(1, 0, 1, KiB(4), 1));
  const std::map<uint32_t, TimePs> times = Arrivals(network, 2);
  EXPECT_EQ(times.at(1), kLatency + 2 * Time(kFull));
  EXPECT_EQ(times.at(0), kLatency + 4 * Time(kFull));
}

TEST(PacketBackendTest, MessagesOfOneQueuePairComeInOrder) {
  const Topology topology = Chain(1);
  PacketBackend network(topology, Plain());
  for (uint32_t i = 0; i < 3; ++i) network.Send(From(i, 0, 1, MiB(1)));
  const std::map<uint32_t, TimePs> times = Arrivals(network, 3);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(times.at(i), kLatency + int64_t{i + 1} * Time(256 * kFull));
  }
}

// Two packets, of which the first is on its way when the message comes that
// the same queue pair is to send; the second has left long before, too.
TEST(PacketBackendTest, AMessageDoesNotLeaveBeforeItIsSent) {
  const Topology topology = Chain(1);
  PacketBackend network(topology, Plain());
  network.Send(From(0, 0, 1, KiB(8)));
  AdvanceTo(Nanoseconds(400), network);
  network.Send(From(1, 0, 1, Bytes(0)));
  EXPECT_EQ(Arrivals(network, 2).at(1),
            Nanoseconds(400) + Time(Bytes(82)) + kLatency);
}

TEST(PacketBackendTest, AcknowledgementsDoNotWaitForData) {
  const Topology topology = Chain(1);
  PacketOptions options = Plain();
  options.nic.completion = Completion::kAcknowledged;
  PacketBackend network(topology, options);
  network.Send(From(0, 0, 1, Bytes(0)));
  network.Send(From(1, 1, 0, MiB(1)));
  // Of GPU 1 packets of 84 ns leave meanwhile, one of which is in the way.
  const TimePs there = Time(Bytes(82)) + kLatency;
  const int64_t begun = there.count() / Time(kFull).count() + 1;
  EXPECT_EQ(Arrivals(network, 2).at(0),
            begun * Time(kFull) + Time(Bytes(86)) + kLatency);
}

// Three packets in a round trip: n packets take n/3 round trips.
TEST(PacketBackendTest, AWindowLimitsTheRateToWhatARoundTripBringsBack) {
  const Topology topology = Chain(2, "400Gbps", "5us");
  PacketOptions options = Plain();
  options.nic.window = WindowScope::kPath;
  const TimePs there = 2 * (Time(kFull) + Microseconds(5));
  const TimePs round_trip = there + 2 * (Time(Bytes(86)) + Microseconds(5));
  const double bdp = ToMicroseconds(round_trip) * 400e3 / 8;
  options.nic.window_factor = 2.5 * 4096 / bdp;
  PacketBackend network(topology, options);
  EXPECT_EQ(Finish(network, {From(0, 0, 1, 300 * KiB(4))}),
            99 * round_trip + 2 * Time(kFull) + there);
}

TEST(PacketBackendTest, AcknowledgementsMayBeFewer) {
  const Topology topology = Chain(1);
  PacketOptions options = Plain();
  options.nic.packets_per_ack = 4;
  options.nic.completion = Completion::kAcknowledged;
  PacketBackend network(topology, options);
  EXPECT_EQ(Finish(network, {From(0, 0, 1, 10 * KiB(4))}),
            10 * Time(kFull) + Time(Bytes(86)) + 2 * kLatency);
  EXPECT_EQ(network.statistics().links[1].packets, 3u);  // At 4, 8 and 10.
}

TEST(PacketBackendTest, CountsPayloadAndWhatIsOnTheWire) {
  const Topology topology = Chain(2);
  PacketOptions options = Plain();
  options.nic.completion = Completion::kAcknowledged;
  PacketBackend network(topology, options);
  Finish(network, {From(0, 0, 1, Bytes(10'000))});
  const NetworkStatistics& statistics = network.statistics();
  for (const uint32_t link : {0U, 2U}) {
    EXPECT_EQ(network.link_bytes()[link], 10'000);
    EXPECT_EQ(statistics.links[link].bytes, 10'000 + 3 * 82);
    EXPECT_EQ(statistics.links[link].packets, 3u);
    EXPECT_EQ(statistics.links[link].busy,
              2 * Time(kFull) + Time(Bytes(10'000 - 2 * 4096 + 82)));
    EXPECT_EQ(network.link_bytes()[link + 1], 0);
    EXPECT_EQ(statistics.links[link + 1].bytes, 3 * 86);
    EXPECT_EQ(statistics.links[link + 1].busy, 3 * Time(Bytes(86)));
  }
  EXPECT_EQ(statistics.num_data_packets, 3u);
  EXPECT_EQ(statistics.num_packet_hops, 12u);
}

// At 400 ns the fifth packet of 83.56 ns is on its way.
TEST(PacketBackendTest, StatisticsAreThoseOfNow) {
  const Topology topology = Chain(1);
  PacketBackend network(topology, Plain());
  network.Send(From(0, 0, 1, MiB(1)));
  AdvanceTo(Nanoseconds(400), network);
  const LinkRecord& record = network.statistics().links[0];
  EXPECT_EQ(record.packets, 5u);
  EXPECT_EQ(record.busy, Nanoseconds(400));
}

// A switch is where a message ends, as a GPU may be: the last byte counts.
TEST(PacketBackendTest, AMessageToASwitchEndsWithItsLastByte) {
  const Topology topology = OneServer(2, "400Gbps", "500ns");
  for (const auto switching :
       {Switching::kStoreAndForward, Switching::kCutThrough}) {
    PacketOptions options = Plain();
    options.nv_switch.switching = switching;
    options.nic.completion = Completion::kAcknowledged;
    PacketBackend to(topology, options);
    const TimePs expected = Time(kFull) + Time(Bytes(86)) + 2 * kLatency;
    EXPECT_EQ(Finish(to, {From(0, 0, 2, KiB(4))}), expected);
    PacketBackend from(topology, options);
    EXPECT_EQ(Finish(from, {From(0, 2, 0, KiB(4))}), expected);
  }
}

// A port of a switch that sends messages of its own, and forwards others that
// it must hold until their end is near: the link in is slower. There is time
// for both.
TEST(PacketBackendTest, ASwitchSendsBesideWhatItForwards) {
  const Topology topology = Drawing(2, 2, 1, 0)
                                .Cable(0, 2, "10Gbps", "0ns")
                                .Cable(1, 2, "400Gbps", "0ns")
                                .Build();
  PacketOptions options = Plain();
  options.nv_switch.switching = Switching::kCutThrough;
  PacketBackend network(topology, options);
  EXPECT_LE(Finish(network, {From(0, 0, 1, MiB(1)), From(1, 2, 1, MiB(1))}),
            256 * Time(kFull, Gbps(10)) + 2 * Time(kFull));
}

TEST(PacketBackendTest, OtherSeedsMayTakeOtherPaths) {
  const Topology topology = TwoSpines(4);
  std::vector<std::vector<double>> seen;
  for (const uint64_t seed : {1U, 1U, 2U, 3U}) {
    PacketOptions options = Plain();
    options.seed = seed;
    PacketBackend network(topology, options);
    std::vector<Message> messages;
    for (uint32_t i = 0; i < 4; ++i)
      messages.push_back(From(i, i, i + 4, KiB(4)));
    Finish(network, messages);
    const auto bytes = network.link_bytes();
    seen.emplace_back(bytes.begin(), bytes.end());
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_TRUE(seen[0] != seen[2] || seen[0] != seen[3]);
}

}  // namespace
}  // namespace astra
