// Packets that are counted and not simulated: nothing that can be measured
// differs, and few events are left.

#include "network-frontends/packet/islands.h"

#include <cstdint>
#include <map>
#include <vector>

#include "network-frontends/replay_support.h"
#include "tests/network-frontends/packet/packet_runs.h"

namespace astra {
namespace {

using ::astra::testing::Arrivals;
using ::astra::testing::From;
using ::astra::testing::Incast;
using ::astra::testing::Plain;
using ::astra::testing::TwoSpines;

struct Sent {
  TimePs time;
  Message message;
};

struct Outcome {
  std::map<uint32_t, TimePs> arrivals;
  std::vector<Bytes> longest_queues;  // By link.
  std::vector<TimePs> busy;           // By link.
  uint64_t hops = 0;
  uint64_t events = 0;
};

// `sent` is by time, and nothing arrives before the last is sent.
Outcome OutcomeOf(const Topology& topology, const PacketOptions& options,
                  const std::vector<Sent>& sent, bool skips,
                  double tolerance = 0) {
  PacketBackend network(topology, options);
  if (skips) network.replay()->SkipPackets(tolerance);
  for (const Sent& each : sent) {
    testing::AdvanceTo(each.time, network);
    network.Send(each.message);
  }
  Outcome outcome;
  outcome.arrivals = Arrivals(network, sent.size());
  const NetworkStatistics& statistics = network.statistics();
  for (const LinkRecord& link : statistics.links) {
    outcome.longest_queues.push_back(link.max_queue);
    outcome.busy.push_back(link.busy);
  }
  outcome.hops = statistics.num_packet_hops;
  outcome.events = statistics.num_events;
  return outcome;
}

// Returns which share of the events is left. Expects the same of both runs.
double ShareLeft(const Topology& topology, const PacketOptions& options,
                 const std::vector<Sent>& sent) {
  const Outcome whole = OutcomeOf(topology, options, sent, /*skips=*/false);
  const Outcome skipping = OutcomeOf(topology, options, sent, /*skips=*/true);
  EXPECT_EQ(skipping.arrivals, whole.arrivals);
  EXPECT_EQ(skipping.longest_queues, whole.longest_queues);
  EXPECT_EQ(skipping.busy, whole.busy);
  EXPECT_EQ(skipping.hops, whole.hops);
  return static_cast<double>(skipping.events) /
         static_cast<double>(whole.events);
}

constexpr Bytes kLong(40'960'000);  // 10,000 packets, 836 us at 400 Gbps.

TEST(IslandsTest, LongMessagesCostAsMuchAsShortOnes) {
  const auto topology = Incast(3);
  EXPECT_LT(ShareLeft(topology, Plain(), {{TimePs(0), From(0, 0, 3, kLong)}}),
            0.02);
  // Two islands, one of which is done sooner.
  EXPECT_LT(ShareLeft(topology, Plain(),
                      {{TimePs(0), From(0, 0, 1, kLong)},
                       {TimePs(0), From(1, 2, 3, 2 * kLong)}}),
            0.02);
}

// As in NVLS, where switches send what they have reduced.
TEST(IslandsTest, MessagesOfSwitchesAreSkipped) {
  constexpr uint32_t kSwitch = 4;
  EXPECT_LT(ShareLeft(Incast(3), Plain(),
                      {{TimePs(0), From(0, kSwitch, 3, kLong)},
                       {TimePs(0), From(1, 2, kSwitch, kLong)}}),
            0.02);
}

// Another message comes to the same target in the middle of the first, whose
// packets wait at the switch from then on, up to its window.
TEST(IslandsTest, AMessageThatComesFindsPacketsWhereTheyAre) {
  PacketOptions options;
  options.congestion.name = "none";
  options.fabric.ecn = false;
  for (const int64_t ns : {100'000, 100'001, 123'457, 333'333}) {
    const double share =
        ShareLeft(Incast(3), options,
                  {{TimePs(0), From(0, 0, 3, kLong)},
                   {Nanoseconds(ns), From(1, 1, 3, kLong)},
                   {Nanoseconds(ns), From(2, 2, 3, Bytes(100'000))}});
    EXPECT_LT(share, 0.2);
  }
}

// GPU 0 is marked and slowed down, and its rate grows with timers after its
// message is done. The timers look at the port that the next message leaves.
TEST(IslandsTest, TimersOfIdleQueuePairsLookAtPorts) {
  PacketOptions options;
  options.fabric.ecn_thresholds = {{Gbps(400), Bytes(1), Bytes(1'000), 1}};
  const double share = ShareLeft(TwoSpines(2), options,
                                 {{TimePs(0), From(0, 0, 2, Bytes(200'000))},
                                  {TimePs(0), From(1, 1, 2, Bytes(200'000))},
                                  {TimePs(0), From(2, 0, 3, kLong, 1)}});
  EXPECT_LT(share, 1);
}

// Three senders fill a queue, and stop. Then two others fill a second one, and
// where the buffer is small, packets of the first no longer find room.
TEST(IslandsTest, MemoryOfSwitchesIsShared) {
  PacketOptions options;
  options.congestion.name = "none";
  options.fabric.ecn = false;
  options.fabric.pfc = false;
  options.fabric.buffer_share = 1;
  options.nic.window_factor = 2;
  constexpr Bytes kShorter(12'288'000);
  for (int64_t kib = 900; kib <= 1700; kib += 50) {
    options.fabric.buffer = KiB(kib);
    ShareLeft(Incast(6), options,
              {{TimePs(0), From(0, 0, 3, kShorter)},
               {TimePs(0), From(1, 1, 3, kShorter)},
               {TimePs(0), From(2, 2, 3, kShorter)},
               {Microseconds(150), From(3, 4, 6, kShorter)},
               {Microseconds(150), From(4, 5, 6, kShorter)}});
  }
}

// GPUs 1 and 3 send and acknowledge at once, so GPUs 0 and 2 send a little
// faster, and all comes to be as it was only after thousands of packets.
TEST(IslandsTest, RatesMayCountAsSteady) {
  const auto topology = TwoSpines(4);
  const std::vector<Sent> sent = {{TimePs(0), From(0, 0, 1, kLong)},
                                  {TimePs(0), From(1, 2, 3, kLong)},
                                  {Nanoseconds(777), From(2, 1, 4, kLong)},
                                  {Nanoseconds(999), From(3, 3, 5, kLong)}};
  PacketOptions options;
  options.congestion.name = "none";
  const Outcome whole = OutcomeOf(topology, options, sent, /*skips=*/false);
  const Outcome exact = OutcomeOf(topology, options, sent, /*skips=*/true);
  const Outcome steady =
      OutcomeOf(topology, options, sent, /*skips=*/true, 0.01);
  EXPECT_EQ(exact.arrivals, whole.arrivals);
  EXPECT_LT(4 * steady.events, exact.events);
  for (const auto& [id, time] : whole.arrivals) {
    const double expected = ToMicroseconds(time);
    EXPECT_NEAR(ToMicroseconds(steady.arrivals.at(id)), expected,
                0.01 * expected);
  }
}

}  // namespace
}  // namespace astra
