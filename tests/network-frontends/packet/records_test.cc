// What the network writes down.

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "network-frontends/replay_support.h"
#include "tests/network-frontends/packet/packet_runs.h"

namespace astra {
namespace {

using namespace ::astra::testing;  // NOLINT: what tests are written in.
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr TimePs kLatency = Nanoseconds(500);

TimePs Time(Bytes bytes) { return TransferTime(bytes, Gbps(400)); }

TEST(FlowRecordTest, EachMessageHasOneWithItsIdealTime) {
  const Topology topology = Chain(3);
  for (const auto completion :
       {Completion::kDelivered, Completion::kAcknowledged}) {
    PacketOptions options = Plain();
    options.record.flows = true;
    options.nic.completion = completion;
    PacketBackend network(topology, options);
    const TimePs finish = Finish(network, {From(7, 0, 1, Bytes(100'010), 3)});
    const NetworkStatistics& statistics = network.statistics();
    ASSERT_THAT(statistics.flows, SizeIs(1));
    const FlowRecord& flow = statistics.flows[0];
    EXPECT_EQ(flow.message, MessageId(7));
    EXPECT_EQ(flow.source, NodeId(0));
    EXPECT_EQ(flow.target, NodeId(1));
    EXPECT_EQ(flow.channel, 3u);
    EXPECT_EQ(flow.bytes, Bytes(100'010));
    EXPECT_EQ(flow.start, TimePs());
    EXPECT_EQ(flow.finish, finish);
    EXPECT_EQ(flow.ideal, finish);
    EXPECT_EQ(flow.num_links, 3u);
    EXPECT_EQ(statistics.paths,
              std::vector<LinkId>({LinkId(0), LinkId(2), LinkId(4)}));
  }
}

// Of a packet of 1082 B, 64 B pass each of two switches before the rest.
TEST(FlowRecordTest, TheIdealTimeKnowsCutThrough) {
  const Topology topology = Chain(3);
  PacketOptions options = Plain();
  options.record.flows = true;
  options.fabric.switching = Switching::kCutThrough;
  PacketBackend network(topology, options);
  const TimePs finish = Finish(network, {From(0, 0, 1, Bytes(1000))});
  EXPECT_EQ(finish, 2 * Time(Bytes(64)) + Time(Bytes(1082)) + 3 * kLatency);
  Finish(network, {From(1, 0, 1, Bytes(100'010))});
  ASSERT_THAT(network.statistics().flows, SizeIs(2));
  for (const FlowRecord& flow : network.statistics().flows) {
    EXPECT_EQ(flow.ideal, flow.finish - flow.start);
  }
}

// The one far away is delivered first and acknowledged last.
TEST(FlowRecordTest, TheyAreInTheOrderOfTheirEnds) {
  const Topology topology = Drawing(3, 1, 0, 1)
                                .Cable(0, 3, "400Gbps", "1us")
                                .Cable(1, 3, "400Gbps", "20us")
                                .Cable(2, 3, "400Gbps", "1us")
                                .Build();
  PacketOptions options = Plain();
  options.record.flows = true;
  PacketBackend network(topology, options);
  network.Send(From(0, 1, 2, KiB(4)));
  AdvanceTo(Microseconds(20), network);
  network.Send(From(1, 0, 2, KiB(4)));
  network.Send(From(2, 0, 2, KiB(4)));
  Arrivals(network, 3);
  AdvanceTo(Microseconds(100), network);
  const std::vector<FlowRecord>& flows = network.statistics().flows;
  ASSERT_THAT(flows, SizeIs(3));
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(flows[i].message, MessageId(i));
}

TEST(FlowRecordTest, ALogHearsOfEachMessageAndNothingIsKept) {
  const Topology topology = Chain(3);
  PacketBackend network(topology, Plain());
  std::vector<FlowRecord> heard;
  network.LogArrivals(
      [&](const FlowRecord& record, absl::Span<const LinkId> path) {
        heard.push_back(record);
        EXPECT_THAT(path, ElementsAre(LinkId(0), LinkId(2), LinkId(4)));
      });
  const TimePs finish = Finish(network, {From(7, 0, 1, Bytes(100'010), 3)});
  ASSERT_THAT(heard, SizeIs(1));
  EXPECT_EQ(heard[0].message, MessageId(7));
  EXPECT_EQ(heard[0].channel, 3u);
  EXPECT_EQ(heard[0].finish, finish);
  EXPECT_THAT(network.statistics().flows, SizeIs(0));
  EXPECT_EQ(network.statistics().num_flows, 1u);
}

TEST(CaptureTest, ShowsEachPacketOfALinkAsItBeginsToLeave) {
  const Topology topology = Chain(2);
  PacketOptions options = Plain();
  options.nic.completion = Completion::kAcknowledged;
  for (const uint32_t link : {2U, 3U}) {
    options.record.captured_link = LinkId(link);
    PacketBackend network(topology, options);
    Finish(network, {From(0, 0, 1, 3 * KiB(4), 5)});
    const std::vector<CapturedPacket>& captured = network.statistics().captured;
    ASSERT_THAT(captured, SizeIs(3));
    for (uint32_t i = 0; i < 3; ++i) {
      const bool is_back = link == 3;
      const TimePs at_switch = (i + 1) * Time(kFull) + kLatency;
      EXPECT_EQ(captured[i].time,
                is_back ? at_switch + Time(kFull) + kLatency : at_switch);
      EXPECT_EQ(captured[i].kind, is_back ? CapturedPacket::Kind::kAck
                                          : CapturedPacket::Kind::kData);
      EXPECT_EQ(captured[i].sequence, is_back ? i + 1 : i);
      EXPECT_EQ(captured[i].wire_bytes, is_back ? Bytes(86) : kFull);
      EXPECT_EQ(captured[i].source, NodeId(is_back ? 1 : 0));
      EXPECT_EQ(captured[i].target, NodeId(is_back ? 0 : 1));
      EXPECT_EQ(captured[i].channel, 5u);
      EXPECT_FALSE(captured[i].is_marked);
    }
  }
}

// Two senders fill the queue by a packet in each packet's time.
TEST(SamplesTest, ShowQueuesAtEachInterval) {
  const Topology topology = Incast(2);
  PacketOptions options = Plain();
  options.record.sample_interval = Microseconds(2);
  options.record.sample_start = Microseconds(4);
  PacketBackend network(topology, options);
  Finish(network, ToLast(2, MiB(1)));
  const NetworkStatistics& statistics = network.statistics();
  ASSERT_FALSE(statistics.queues.empty());
  ASSERT_FALSE(statistics.rates.empty());
  EXPECT_EQ(statistics.rates[0].time, Microseconds(4));
  EXPECT_EQ(statistics.queues[0].time, Microseconds(4));
  for (const QueueSample& sample : statistics.queues) {
    EXPECT_EQ(sample.link, LinkId(5));
    EXPECT_EQ(sample.time.count() % Microseconds(2).count(), 0);
    const TimePs last_in = 256 * Time(kFull) + kLatency;
    const TimePs since = sample.time - Time(kFull) - kLatency;
    if (sample.time >= last_in) continue;
    // Two are in for each that has begun to leave, give or take one of each.
    const double packets = static_cast<double>(since.count()) /
                           static_cast<double>(Time(kFull).count());
    EXPECT_NEAR(static_cast<double>(sample.queue.count()), packets * 4178,
                2.5 * 4178);
  }
}

TEST(SamplesTest, ChangeNothing) {
  const Topology topology = Incast(8);
  TimePs finish[2];
  uint64_t num_hops[2];
  for (const bool is_sampled : {false, true}) {
    PacketOptions options;
    options.fabric.buffer_share = 0.001;
    if (is_sampled) options.record.sample_interval = Nanoseconds(100);
    PacketBackend network(topology, options);
    finish[is_sampled] = Finish(network, ToLast(8, KiB(512)));
    num_hops[is_sampled] = network.statistics().num_packet_hops;
  }
  EXPECT_EQ(finish[0], finish[1]);
  EXPECT_EQ(num_hops[0], num_hops[1]);
}

TEST(PfcRecordTest, PausesAndResumesTakeTurns) {
  const Topology topology = Incast(8);
  PacketOptions options = Plain();
  options.record.pfc = true;
  options.fabric.buffer_share = 0.001;
  PacketBackend network(topology, options);
  Finish(network, ToLast(8, KiB(512)));
  const NetworkStatistics& statistics = network.statistics();
  std::vector<bool> is_paused(statistics.links.size());
  std::vector<uint64_t> pauses(statistics.links.size());
  for (const PfcRecord& record : statistics.pfc) {
    EXPECT_NE(is_paused[record.link.index()], record.is_pause);
    is_paused[record.link.index()] = record.is_pause;
    pauses[record.link.index()] += record.is_pause ? 1 : 0;
  }
  for (uint32_t i = 0; i < pauses.size(); ++i) {
    EXPECT_EQ(pauses[i], statistics.links[i].pauses);
    EXPECT_EQ(pauses[i] > 0, i < 16 && i % 2 == 0) << i;  // Of the senders.
  }
}

// The second incast is simulated after the first, from the same instant on.
TEST(PfcRecordTest, TheyAreByTimeAfterGoingBack) {
  Drawing drawing(10, 1, 0, 2);
  for (uint32_t gpu = 0; gpu < 10; ++gpu) {
    drawing.Cable(gpu, 10 + gpu / 5, "400Gbps", "500ns");
  }
  const Topology topology = drawing.Cable(10, 11, "400Gbps", "500ns").Build();
  PacketOptions options = Plain();
  options.record.pfc = true;
  options.fabric.buffer_share = 0.001;
  PacketBackend network(topology, options);
  const auto send = [&](uint32_t first) {
    for (uint32_t i = 0; i < 4; ++i) {
      network.Send(From(first + i, first + i, first + 4, KiB(512)));
    }
  };
  send(0);
  Arrivals(network, 4);
  const TimePs end = network.now();
  network.replay()->GoBackTo(TimePs(0), {});
  send(5);
  Arrivals(network, 4);
  AdvanceTo(end, network);
  network.replay()->Return();
  const std::vector<PfcRecord>& pfc = network.statistics().pfc;
  ASSERT_THAT(pfc, Not(IsEmpty()));
  EXPECT_TRUE(std::is_sorted(
      pfc.begin(), pfc.end(), [](const PfcRecord& a, const PfcRecord& b) {
        return std::tie(a.time, a.link) < std::tie(b.time, b.link);
      }));
}

TEST(RecordsTest, ListsEndWhereTheyMustAndSayWhatIsMissing) {
  const Topology topology = Chain(1);
  PacketOptions options = Plain();
  options.record.captured_link = LinkId(0);
  options.record.max_records = 10;
  PacketBackend network(topology, options);
  Finish(network, {From(0, 0, 1, 25 * KiB(4))});
  EXPECT_THAT(network.statistics().captured, SizeIs(10));
  EXPECT_EQ(network.statistics().num_lost_records, 15u);
}

}  // namespace
}  // namespace astra
