// Switches under load: buffers, PFC, ECN, and paths.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/network-frontends/packet/packet_runs.h"

namespace astra {
namespace {

using namespace ::astra::testing;  // NOLINT: what tests are written in.

constexpr TimePs kLatency = Nanoseconds(500);

TimePs Time(Bytes bytes) { return TransferTime(bytes, Gbps(400)); }

uint64_t NumPauses(PacketBackend& network) {
  uint64_t pauses = 0;
  for (const LinkRecord& link : network.statistics().links) {
    pauses += link.pauses;
  }
  return pauses;
}

// 64 times 256 KiB at once, without congestion control, through a buffer of
// which each sender may hold little: all wait, nothing is lost, and the link to
// the receiver is never idle.
TEST(PfcTest, AnIncastIsPausedAndLosesNothing) {
  const Topology topology = Incast(64);
  PacketOptions options = Plain();
  options.fabric.buffer = MiB(16);
  options.fabric.buffer_share = 1.0 / 256;
  PacketBackend network(topology, options);
  EXPECT_EQ(Finish(network, ToLast(64, KiB(256))),
            2 * kLatency + Time(kFull) + 4096 * Time(kFull));
  const NetworkStatistics& statistics = network.statistics();
  EXPECT_EQ(statistics.num_drops, 0u);
  EXPECT_EQ(statistics.num_retransmissions, 0u);
  EXPECT_GT(NumPauses(network), 64u);
  EXPECT_LE(statistics.links[129].max_queue, MiB(16));
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_GT(statistics.links[2 * i].paused, Microseconds(1)) << i;
    EXPECT_LT(statistics.links[2 * i].paused, network.now()) << i;
  }
}

// What comes until the sender has stopped fits the headroom, whatever the
// latency: of the cable, or of the switches at both its ends.
TEST(PfcTest, HeadroomHoldsWhatComesUntilTheSenderStops) {
  for (const char* latency : {"0ns", "500ns", "10us"}) {
    for (const TimePs of_switch : {TimePs(), Microseconds(2)}) {
      for (const int64_t payload : {1024, 9000}) {
        // GPUs 0 to 3 below switch 5, which leads to switch 6 and GPU 4.
        Drawing drawing(5, 1, 0, 2);
        for (uint32_t i = 0; i < 4; ++i)
          drawing.Cable(i, 5, "400Gbps", latency);
        const Topology topology = drawing.Cable(5, 6, "800Gbps", latency)
                                      .Cable(6, 4, "100Gbps", latency)
                                      .Build();
        PacketOptions options = Plain();
        options.nic.payload = Bytes(payload);
        options.fabric.latency = of_switch;
        options.fabric.buffer_share = 1e-9;
        options.fabric.reserve = Bytes(0);
        PacketBackend network(topology, options);
        Finish(network, ToLast(4, KiB(512)));
        EXPECT_EQ(network.statistics().num_drops, 0u)
            << latency << ", " << of_switch.count() << " ps, " << payload;
        EXPECT_GT(NumPauses(network), 0u);
      }
    }
  }
}

// All to all over a tree of three levels whose switches pause all the time:
// paths go up and then down, so no circle of waiting can close.
TEST(PfcTest, TreesDoNotLock) {
  Drawing drawing(8, 1, 0, 7);
  for (uint32_t i = 0; i < 8; ++i) drawing.Cable(i, 8 + i / 2);
  for (uint32_t i = 0; i < 4; ++i) drawing.Cable(8 + i, 12 + i / 2);
  const Topology topology = drawing.Cable(12, 14).Cable(13, 14).Build();
  PacketOptions options = Plain();
  options.fabric.buffer_share = 1e-9;
  PacketBackend network(topology, options);
  std::vector<Message> messages;
  for (uint32_t i = 0; i < 8; ++i) {
    for (uint32_t j = 0; j < 8; ++j) {
      if (i != j) messages.push_back(From(8 * i + j, i, j, KiB(256)));
    }
  }
  Finish(network, messages);
  EXPECT_GT(NumPauses(network), 1000u);
  EXPECT_EQ(network.statistics().num_drops, 0u);
}

// Two senders, one receiver: the queue grows by a packet in each packet's time.
class EcnTest : public ::testing::Test {
 protected:
  NetworkStatistics Run(Bytes min_queue, Bytes max_queue,
                        const std::string& control = "none") {
    const Topology topology = Incast(2);
    PacketOptions options = Plain();
    options.fabric.ecn = true;
    options.fabric.ecn_thresholds = {{Gbps(400), min_queue, max_queue, 0.5}};
    options.congestion.name = control;
    options.nic.completion = Completion::kAcknowledged;
    options.record.sample_interval = Microseconds(10);
    options.record.cnp = true;
    PacketBackend network(topology, options);
    Finish(network, ToLast(2, MiB(1)));
    return network.statistics();
  }
  static constexpr size_t kLast = 5;  // The link to the receiver.
};

TEST_F(EcnTest, MarksNothingUpToTheLowerThreshold) {
  const NetworkStatistics all = Run(MiB(2), MiB(2));
  EXPECT_EQ(all.links[kLast].marked, 0u);
  EXPECT_GT(all.links[kLast].max_queue, KiB(900));
  EXPECT_EQ(Run(all.links[kLast].max_queue, MiB(2)).links[kLast].marked, 0u);
}

// Something waits as each packet leaves but the first two, which come together,
// and the last.
TEST_F(EcnTest, MarksEverythingFromTheUpperThresholdOn) {
  const NetworkStatistics all = Run(Bytes(0), Bytes(1));
  EXPECT_EQ(all.links[kLast].marked, 509u);
}

// Marks are notifications only to a control that heeds them.
TEST_F(EcnTest, OnlyControlsThatHeedMarksAreNotified) {
  for (const std::string control : {"dcqcn", "dctcp", "uec"}) {
    const NetworkStatistics all = Run(Bytes(0), Bytes(1), control);
    EXPECT_GT(all.cnps.size(), 0u) << control;
    EXPECT_EQ(all.cnps.size(), all.links[kLast].marked) << control;
  }
  for (const std::string control : {"none", "hpcc", "hpcc_pint", "timely"}) {
    const NetworkStatistics all = Run(Bytes(0), Bytes(1), control);
    EXPECT_GT(all.links[kLast].marked, 0u) << control;
    EXPECT_EQ(all.cnps.size(), 0u) << control;
  }
}

TEST_F(EcnTest, MarksAShareInBetween) {
  const uint64_t marked = Run(Bytes(0), MiB(4)).links[kLast].marked;
  EXPECT_GT(marked, 5u);
  EXPECT_LT(marked, 100u);
}

TEST_F(EcnTest, SendersSlowDown) {
  const NetworkStatistics marked = Run(Bytes(10'000), Bytes(100'000), "dcqcn");
  const auto slowest = std::min_element(
      marked.rates.begin(), marked.rates.end(),
      [](const RateSample& a, const RateSample& b) { return a.rate < b.rate; });
  ASSERT_NE(slowest, marked.rates.end());
  EXPECT_LT(slowest->rate, Gbps(300));
  EXPECT_LT(marked.links[kLast].max_queue,
            Run(MiB(2), MiB(2), "dcqcn").links[kLast].max_queue);
}

class BalancingTest : public ::testing::Test {
 protected:
  // The bytes that go by each spine when `messages` go from leaf to leaf.
  std::pair<double, double> BySpine(const PacketOptions& options,
                                    const std::vector<Message>& messages,
                                    TimePs* finish = nullptr) {
    const Topology topology = TwoSpines(2, "200Gbps");
    PacketBackend network(topology, options);
    const TimePs last = Finish(network, messages);
    if (finish != nullptr) *finish = last;
    return {network.link_bytes()[0], network.link_bytes()[4]};
  }
  static PacketOptions With(LoadBalancing balancing) {
    PacketOptions options = Plain();
    options.load_balancing = balancing;
    options.nic.loss_recovery = LossRecovery::kSelectiveRepeat;
    return options;
  }
};

TEST_F(BalancingTest, EcmpKeepsAQueuePairOnOnePath) {
  TimePs finish;
  const auto [a, b] =
      BySpine(With(LoadBalancing::kEcmp), {From(0, 0, 2, MiB(4))}, &finish);
  EXPECT_EQ(std::min(a, b), 0);
  EXPECT_EQ(std::max(a, b), MiB(4).count());
  EXPECT_GT(finish, TransferTime(MiB(4), Gbps(200)));
}

// Both spines together are as fast as the sender.
TEST_F(BalancingTest, SprayingUsesAllPathsAlike) {
  TimePs finish;
  const auto [a, b] =
      BySpine(With(LoadBalancing::kSpray), {From(0, 0, 2, MiB(4))}, &finish);
  EXPECT_EQ(a + b, MiB(4).count());
  EXPECT_NEAR(a / b, 1, 0.2);
  EXPECT_LT(finish, Time(1024 * kFull) + Microseconds(20));
}

TEST_F(BalancingTest, TheShortestQueueKeepsPathsEven) {
  TimePs finish;
  const auto [a, b] =
      BySpine(With(LoadBalancing::kAdaptive), {From(0, 0, 2, MiB(4))}, &finish);
  EXPECT_EQ(a + b, MiB(4).count());
  EXPECT_LE(std::abs(a - b), 2 * 4096);
  EXPECT_LT(finish, Time(1024 * kFull) + Microseconds(3));
}

TEST_F(BalancingTest, FlowletsChangeTheirPathOnlyAfterAGap) {
  PacketOptions options = With(LoadBalancing::kFlowlet);
  options.nic.loss_recovery = LossRecovery::kGoBackN;
  options.flowlet_gap = Microseconds(50);
  const auto [a, b] = BySpine(options, {From(0, 0, 2, MiB(4))});
  EXPECT_EQ(std::min(a, b), 0);
  options.flowlet_gap = TimePs(0);
  const auto [c, d] = BySpine(options, {From(0, 0, 2, MiB(4))});
  EXPECT_GT(std::min(c, d), MiB(1).count());
}

// An acknowledgement comes to the port of an NVSwitch at the instant at which
// it becomes free, and data waits there. Who goes first is the same where the
// NVSwitch has sent a message of its own before, as NVLS does.
TEST(NvSwitchTest, WhatItOnceSentChangesNothingLater) {
  constexpr uint32_t kSwitch = 4;
  constexpr Bytes kAck(86);
  Drawing drawing(kSwitch, kSwitch, 1, 0);
  for (uint32_t i = 0; i < kSwitch; ++i) drawing.Cable(i, kSwitch);
  const Topology topology = drawing.Build();
  PacketOptions options = Plain();
  options.nv_switch.switching = Switching::kStoreAndForward;
  // The acknowledgement of GPU 0's packet to GPU 3 is back at the switch after
  // two packets, itself and three cables. A packet sent then takes two packets
  // and a cable to leave the switch.
  const TimePs meeting = Microseconds(100) + Time(kAck) + 2 * kLatency;
  const auto arrivals = [&](bool has_sent, TimePs sent) {
    PacketBackend network(topology, options);
    if (has_sent) Finish(network, {From(0, kSwitch, 0, KiB(1))});
    AdvanceTo(Microseconds(100), network);
    network.Send(From(1, 0, 3, KiB(4)));
    AdvanceTo(sent, network);
    network.Send(From(2, 1, 0, KiB(4)));
    network.Send(From(3, 2, 0, KiB(4)));
    return Arrivals(network, 3);
  };
  for (int64_t ps = -2; ps <= 2; ++ps) {
    const TimePs sent = meeting + TimePs(ps);
    EXPECT_EQ(arrivals(true, sent), arrivals(false, sent)) << ps;
  }
}

}  // namespace
}  // namespace astra
