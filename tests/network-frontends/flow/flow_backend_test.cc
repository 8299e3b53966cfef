#include "network-frontends/flow/flow_backend.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "astra-core/base/random.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "tests/testing/topologies.h"

namespace astra {
namespace {

using ::astra::testing::Drawing;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr TimePs kFar = Microseconds(1'000'000);

Message From(uint32_t id, uint32_t source, uint32_t target, Bytes bytes,
             uint32_t channel = 0) {
  return {MessageId(id), NodeId(source), NodeId(target), bytes, channel};
}

// When each message arrives, from now on until none is left.
std::map<uint32_t, TimePs> Arrivals(NetworkBackend& network) {
  std::map<uint32_t, TimePs> times;
  while (true) {
    std::vector<MessageId> arrived;
    network.AdvanceTo(kFar, &arrived);
    if (arrived.empty()) return times;
    for (const MessageId id : arrived) times[id.index()] = network.now();
  }
}

// `num_senders` GPUs and a receiver of 400 Gbps and 500 ns below one switch:
// two links of latency, and one packet's time on the second.
class IncastTest : public ::testing::Test {
 protected:
  static Topology Draw(uint32_t num_senders) {
    Drawing drawing(num_senders + 1, 1, 0, 1);
    for (uint32_t i = 0; i <= num_senders; ++i) {
      drawing.Cable(i, num_senders + 1, "400Gbps", "500ns");
    }
    return drawing.Build();
  }
  static FlowOptions Plain() { return {.header = Bytes(0)}; }

  static constexpr TimePs kLatency = Microseconds(1);
  static TimePs Time(Bytes bytes) { return TransferTime(bytes, Gbps(400)); }
};

// 1 MiB is 256 packets of 4096 + 82 B. A switch adds its latency.
TEST_F(IncastTest, AloneAMessageTakesTheTimeOfAPacketNetwork) {
  const Topology topology = Draw(1);
  FlowOptions options;
  options.switch_latency = Nanoseconds(300);
  options.message_latency = Nanoseconds(7);
  FlowBackend network(topology, options);
  network.Send(From(0, 0, 1, MiB(1)));
  EXPECT_EQ(Arrivals(network).at(0), Nanoseconds(1000 + 300 + 7) +
                                         Time(256 * Bytes(4178)) +
                                         Time(Bytes(4178)));
}

TEST_F(IncastTest, AnNvSwitchHasALatencyOfItsOwn) {
  Drawing drawing(2, 2, 1, 0);
  drawing.Cable(0, 2, "400Gbps", "500ns").Cable(1, 2, "400Gbps", "500ns");
  const Topology topology = drawing.Build();
  FlowOptions options;
  options.switch_latency = Microseconds(5);
  options.nv_switch_latency = Nanoseconds(30);
  FlowBackend network(topology, options);
  network.Send(From(0, 0, 1, Bytes(100)));
  EXPECT_EQ(Arrivals(network).at(0),
            kLatency + Nanoseconds(30) + 2 * Time(Bytes(182)));
}

TEST_F(IncastTest, AShortMessageIsOnePacketOnEachLink) {
  const Topology topology = Draw(1);
  FlowBackend network(topology, {});
  network.Send(From(0, 0, 1, Bytes(100)));
  EXPECT_EQ(Arrivals(network).at(0), kLatency + 2 * Time(Bytes(182)));
}

TEST_F(IncastTest, AnEmptyMessageTakesTheLatency) {
  const Topology topology = Draw(1);
  FlowBackend network(topology, {.message_latency = Nanoseconds(3)});
  network.Send(From(0, 0, 1, MiB(1)));
  network.Send(From(1, 0, 1, Bytes(0), 1));
  EXPECT_EQ(Arrivals(network).at(1), kLatency + Nanoseconds(3));
}

// Two messages back to back take the time of one of double size; the first
// takes what it takes alone.
TEST_F(IncastTest, MessagesOfOneConnectionLeaveOneAfterTheOther) {
  const Topology topology = Draw(1);
  FlowBackend network(topology, Plain());
  network.Send(From(7, 0, 1, MiB(1)));
  network.Send(From(3, 0, 1, MiB(1)));
  const TimePs rest = kLatency + Time(Bytes(4096));
  const auto times = Arrivals(network);
  EXPECT_EQ(times.at(7), Time(MiB(1)) + rest);
  EXPECT_EQ(times.at(3), Time(MiB(2)) + rest);
}

// Two of one connection and one of another: the connections share until the
// latter has sent its 1 MiB, and as much of the former has left; what remains
// has the link to itself.
TEST_F(IncastTest, ConnectionsShareHoweverManyMessagesWait) {
  const Topology topology = Draw(1);
  FlowBackend network(topology, Plain());
  network.Send(From(0, 0, 1, KiB(512)));
  network.Send(From(1, 0, 1, MiB(2)));
  network.Send(From(2, 0, 1, MiB(1), 1));
  const TimePs rest = kLatency + Time(Bytes(4096));
  const auto times = Arrivals(network);
  EXPECT_EQ(times.at(0), Time(MiB(1)) + rest);
  EXPECT_EQ(times.at(2), Time(MiB(2)) + rest);
  EXPECT_EQ(times.at(1), Time(KiB(3584)) + rest);
}

// A full packet takes as long on the second link as on the first; what comes
// after it takes less, and waits for it. An empty message waits its turn.
TEST_F(IncastTest, MessagesOfOneConnectionArriveInOrder) {
  const Topology topology = Draw(1);
  FlowBackend network(topology, Plain());
  network.Send(From(2, 0, 1, MiB(1)));
  network.Send(From(1, 0, 1, Bytes(100)));
  network.Send(From(0, 0, 1, Bytes(0)));
  const TimePs end = Time(MiB(1)) + Time(Bytes(4096)) + kLatency;
  std::vector<MessageId> arrived;
  network.AdvanceTo(end - TimePs(1), &arrived);
  EXPECT_THAT(arrived, SizeIs(0));
  for (const auto& [id, time] : Arrivals(network)) EXPECT_EQ(time, end) << id;
}

// Rates change when connections begin or end, not with each message.
TEST_F(IncastTest, TheNextOfAConnectionIsNotSolvedFor) {
  const Topology topology = Draw(2);
  FlowOptions options = Plain();
  options.end_batching = Microseconds(1000);  // An end would be felt for long.
  FlowBackend network(topology, options);
  for (uint32_t i = 0; i < 100; ++i) network.Send(From(i, 0, 2, KiB(64)));
  network.Send(From(100, 1, 2, KiB(6400)));
  const TimePs end = Time(KiB(12800)) + kLatency + Time(Bytes(4096));
  const auto times = Arrivals(network);
  EXPECT_EQ(times.at(99), end);
  EXPECT_EQ(times.at(100), end);
}

TEST_F(IncastTest, WhatWaitsHasNotLeft) {
  const Topology topology = Draw(1);
  FlowBackend network(topology, Plain());
  network.Send(From(0, 0, 1, MiB(1)));
  network.Send(From(1, 0, 1, MiB(1)));
  std::vector<MessageId> arrived;
  network.AdvanceTo(Time(KiB(512)), &arrived);
  EXPECT_NEAR(network.statistics().links[0].bytes, 512 << 10, 1e-3);
}

TEST_F(IncastTest, MessagesCanUseAShareOfTheLinks) {
  const Topology topology = Draw(1);
  FlowOptions options = Plain();
  options.efficiency = 0.5;
  FlowBackend network(topology, options);
  network.Send(From(0, 0, 1, MiB(1)));
  EXPECT_EQ(Arrivals(network).at(0),
            kLatency + 2 * Time(MiB(1)) + Time(Bytes(4096)));
}

// All end together, as late as one message of 64 times the size.
TEST_F(IncastTest, SixtyFourSendersShareTheReceiver) {
  const Topology topology = Draw(64);
  FlowBackend network(topology, Plain());
  for (uint32_t i = 0; i < 64; ++i) network.Send(From(i, i, 64, MiB(1)));
  std::vector<MessageId> arrived;
  network.AdvanceTo(kFar, &arrived);
  EXPECT_THAT(arrived, SizeIs(64));
  EXPECT_EQ(network.now(), kLatency + Time(MiB(64)) + Time(Bytes(4096)));
}

// 1 and 2 MiB share until the first has left, at twice its time; then the
// second has 1 MiB left. A third comes later, when half of that is left, of
// 1/2 MiB: they share again and end together.
TEST_F(IncastTest, RatesFollowWhatComesAndGoes) {
  const Topology topology = Draw(3);
  FlowBackend network(topology, Plain());
  network.Send(From(1, 0, 3, MiB(1)));
  network.Send(From(2, 1, 3, MiB(2)));
  std::vector<MessageId> arrived;
  network.AdvanceTo(kFar, &arrived);
  const TimePs rest = kLatency + Time(Bytes(4096));
  EXPECT_THAT(arrived, ElementsAre(MessageId(1)));
  EXPECT_EQ(network.now(), Time(MiB(2)) + rest);
  const TimePs third = Time(MiB(2)) + Time(KiB(512));
  network.AdvanceTo(third, &arrived);
  network.Send(From(3, 2, 3, KiB(512)));
  EXPECT_THAT(arrived, SizeIs(1));
  const auto times = Arrivals(network);
  EXPECT_EQ(times.at(2), third + Time(MiB(1)) + rest);
  EXPECT_EQ(times.at(3), third + Time(MiB(1)) + rest);
}

// A message that has left uses no link, though it has not arrived.
TEST_F(IncastTest, WhatHasLeftIsInNobodysWay) {
  const Topology topology = Draw(2);
  FlowBackend network(topology, Plain());
  network.Send(From(0, 0, 2, KiB(4)));
  std::vector<MessageId> arrived;
  network.AdvanceTo(Time(KiB(4)), &arrived);
  EXPECT_THAT(arrived, SizeIs(0));
  network.Send(From(1, 1, 2, KiB(4)));
  const TimePs alone = kLatency + 2 * Time(KiB(4));
  EXPECT_EQ(Arrivals(network).at(1), Time(KiB(4)) + alone);
}

// At 2 Time(MiB(1)) the first has left; for 5 us half of the link is unused.
TEST_F(IncastTest, EndsMayBeBatched) {
  const Topology topology = Draw(2);
  FlowOptions options = Plain();
  options.end_batching = Microseconds(5);
  FlowBackend network(topology, options);
  network.Send(From(0, 0, 2, MiB(1)));
  network.Send(From(1, 1, 2, MiB(2)));
  const TimePs rest = kLatency + Time(Bytes(4096));
  const auto times = Arrivals(network);
  EXPECT_EQ(times.at(0), Time(MiB(2)) + rest);
  EXPECT_EQ(times.at(1), Time(MiB(3)) + rest + TimePs(2'500'000));
}

// The same, but a third takes the place of the first before the 5 us are over.
TEST_F(IncastTest, BeginningsAreNotBatched) {
  const Topology topology = Draw(3);
  FlowOptions options = Plain();
  options.end_batching = Microseconds(5);
  FlowBackend network(topology, options);
  network.Send(From(0, 0, 3, MiB(1)));
  network.Send(From(1, 1, 3, MiB(2)));
  std::vector<MessageId> arrived;
  network.AdvanceTo(kFar, &arrived);
  EXPECT_THAT(arrived, ElementsAre(MessageId(0)));
  const TimePs begin = network.now();
  network.Send(From(2, 2, 3, KiB(4)));
  const TimePs rest = kLatency + Time(KiB(4));
  EXPECT_EQ(Arrivals(network).at(2), begin + 2 * Time(KiB(4)) + rest);
}

// What two queue pairs of the same ends get is two shares.
TEST_F(IncastTest, MessagesOfOnePathCountOneByOne) {
  const Topology topology = Draw(2);
  FlowBackend network(topology, Plain());
  network.Send(From(0, 0, 2, MiB(1), 0));
  network.Send(From(1, 0, 2, MiB(1), 1));
  network.Send(From(2, 1, 2, MiB(1), 0));
  const TimePs end = kLatency + Time(MiB(3)) + Time(Bytes(4096));
  for (const auto& [id, time] : Arrivals(network)) EXPECT_EQ(time, end) << id;
}

// A slow link after a fast one: the packet's time on the fast one comes first.
TEST(FlowBackendTest, TheSlowestLinkSetsThePace) {
  const Topology topology = Drawing(2, 1, 0, 1)
                                .Cable(0, 2, "400Gbps", "500ns")
                                .Cable(1, 2, "100Gbps", "500ns")
                                .Build();
  FlowBackend network(topology, {.header = Bytes(0)});
  network.Send(From(0, 0, 1, MiB(1)));
  EXPECT_EQ(Arrivals(network).at(0), Microseconds(1) +
                                         TransferTime(MiB(1), Gbps(100)) +
                                         TransferTime(KiB(4), Gbps(400)));
}

// Two servers of two GPUs: NVLink for some, switch 6 for others.
TEST(FlowBackendTest, CountsBytesPacketsAndBusyTimeOfLinks) {
  const Topology topology = astra::testing::Star(2, 2);
  FlowBackend network(topology, {});
  network.Send(From(0, 0, 1, KiB(8)));
  network.Send(From(1, 0, 2, KiB(8)));
  std::vector<MessageId> arrived;
  const TimePs half = TransferTime(Bytes(4178), Gbps(400));
  network.AdvanceTo(half, &arrived);
  // Cables 0 and 1 are those of GPU 0, to the NVSwitch and to the switch.
  EXPECT_NEAR(network.statistics().links[0].bytes, 2 * 4178, 1e-6);
  EXPECT_NEAR(network.statistics().links[2].bytes, 4178, 1e-6);
  EXPECT_EQ(network.link_bytes()[2], 2 * 4096);  // Without headers.
  Arrivals(network);
  const NetworkStatistics& statistics = network.statistics();
  EXPECT_EQ(statistics.links[2].bytes, 2 * 4178);
  EXPECT_EQ(statistics.links[2].packets, 2u);
  EXPECT_EQ(statistics.links[2].busy, 2 * half);
  EXPECT_EQ(statistics.links[0].busy, half);  // At 800 Gbps.
  EXPECT_EQ(statistics.num_data_packets, 4u);
  EXPECT_EQ(statistics.num_packet_hops, 8u);
}

TEST(FlowBackendTest, RecordsFlowsByFinish) {
  const Topology topology = astra::testing::Star(1, 3);
  FlowBackend network(topology, {.record = {.flows = true, .max_records = 3}});
  network.Send(From(5, 0, 2, MiB(1), 9));
  network.Send(From(6, 1, 2, MiB(1)));
  network.Send(From(7, 1, 0, Bytes(0)));
  network.Send(From(8, 0, 2, MiB(8)));
  Arrivals(network);
  const NetworkStatistics& statistics = network.statistics();
  EXPECT_EQ(statistics.num_lost_records, 1u);
  ASSERT_THAT(statistics.flows, SizeIs(3));
  EXPECT_EQ(statistics.flows[0].message, MessageId(7));
  EXPECT_EQ(statistics.flows[0].ideal, TimePs(1));
  const FlowRecord& record = statistics.flows[1];
  EXPECT_EQ(record.message, MessageId(5));
  EXPECT_EQ(record.source, NodeId(0));
  EXPECT_EQ(record.target, NodeId(2));
  EXPECT_EQ(record.channel, 9u);
  EXPECT_EQ(record.bytes, MiB(1));
  EXPECT_EQ(record.start, TimePs(0));
  ASSERT_EQ(record.num_links, 2u);
  EXPECT_EQ(statistics.paths[record.path], LinkId(0));
  EXPECT_EQ(record.ideal, TransferTime(257 * Bytes(4178), Gbps(800)));
  EXPECT_EQ(record.finish, TransferTime(769 * Bytes(4178), Gbps(800)));
}

TEST(FlowBackendTest, ALogHearsOfEachMessageAndNothingIsKept) {
  const Topology topology = astra::testing::Star(1, 3);
  FlowBackend network(topology, {});
  std::vector<FlowRecord> heard;
  network.LogArrivals(
      [&](const FlowRecord& record, absl::Span<const LinkId> path) {
        heard.push_back(record);
        EXPECT_EQ(path.size(), 2u);
        EXPECT_EQ(topology.link(path.front()).source, record.source);
        EXPECT_EQ(topology.link(path.back()).target, record.target);
      });
  network.Send(From(5, 0, 2, MiB(1), 9));
  network.Send(From(7, 1, 0, Bytes(0)));
  Arrivals(network);
  ASSERT_THAT(heard, SizeIs(2));
  EXPECT_EQ(heard[0].message, MessageId(7));
  EXPECT_EQ(heard[1].message, MessageId(5));
  EXPECT_EQ(heard[1].channel, 9u);
  EXPECT_EQ(heard[1].finish, TransferTime(257 * Bytes(4178), Gbps(800)));
  EXPECT_THAT(network.statistics().flows, SizeIs(0));
  EXPECT_EQ(network.statistics().num_flows, 2u);
}

// Four spines: the path is that of the queue pair, whatever the seed makes it.
TEST(FlowBackendTest, AQueuePairKeepsItsPath) {
  Drawing drawing(2, 1, 0, 6);
  drawing.Cable(0, 2).Cable(1, 3);
  for (uint32_t spine = 4; spine < 8; ++spine) {
    drawing.Cable(2, spine).Cable(spine, 3);
  }
  const Topology topology = drawing.Build();
  FlowBackend network(topology, {.record = {.flows = true}});
  for (uint32_t i = 0; i < 200; ++i) {
    network.Send(From(i, 0, 1, KiB(1), i % 100));
  }
  Arrivals(network);
  const NetworkStatistics& statistics = network.statistics();
  std::map<uint32_t, LinkId> spine_of;
  std::map<LinkId, int> count;
  for (const FlowRecord& flow : statistics.flows) {
    const LinkId up = statistics.paths[flow.path + 1];
    const auto [known, is_new] = spine_of.emplace(flow.channel, up);
    EXPECT_EQ(known->second, up);
    if (is_new) ++count[up];
  }
  EXPECT_THAT(count, SizeIs(4));
  for (const auto& [link, channels] : count) EXPECT_NEAR(channels, 25, 15);
}

// Sends 300 messages at random instants; each byte passes each link of its
// path once, none faster than the links, and all again alike.
TEST(FlowBackendTest, LosesNoByteAndRepeatsItself) {
  const Topology topology = astra::testing::Star(3, 4);
  const auto run = [&topology](bool looks) {
    FlowBackend network(topology, {});
    std::map<uint32_t, TimePs> times;
    std::vector<MessageId> arrived;
    double wire = 0;
    for (uint32_t i = 0; i < 300; ++i) {
      const auto source = static_cast<uint32_t>(HashOf(1, i) % 12);
      const auto target =
          static_cast<uint32_t>((source + 1 + HashOf(2, i) % 11) % 12);
      const Bytes bytes(static_cast<int64_t>(HashOf(3, i) % 1'000'000));
      const int64_t num_packets = (bytes.count() + 4095) / 4096;
      wire += 2 * static_cast<double>(bytes.count() + num_packets * 82);
      network.Send(From(i, source, target, bytes));
      const TimePs until =
          network.now() +
          TimePs(static_cast<int64_t>(HashOf(4, i) % 20'000'000));
      while (network.now() < until) {
        arrived.clear();
        network.AdvanceTo(until, &arrived);
        for (const MessageId id : arrived) times[id.index()] = network.now();
        if (looks) network.statistics();
      }
    }
    for (const auto& [id, time] : Arrivals(network)) times[id] = time;
    EXPECT_THAT(times, SizeIs(300));
    double total = 0;
    for (const LinkRecord& link : network.statistics().links) {
      total += link.bytes;
      EXPECT_LE(link.busy, network.now());
    }
    EXPECT_NEAR(total, wire, 1e-9 * wire);
    return times;
  };
  EXPECT_EQ(run(false), run(true));
}

}  // namespace
}  // namespace astra
