// What senders do about loss: every message arrives all the same, and once.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/network-frontends/packet/packet_runs.h"

namespace astra {
namespace {

using namespace ::astra::testing;  // NOLINT: what tests are written in.
using ::testing::IsEmpty;

constexpr TimePs kLatency = Nanoseconds(500);

Topology Lossy(const std::string& error_rate) {
  TopologyBuilder builder(2, 1, "H100");
  const NodeId between = builder.AddSwitch(NodeKind::kSwitch);
  const LinkTypeId type =
      ValueOrDie(builder.AddLinkType("400Gbps", "500ns", error_rate));
  EXPECT_TRUE(builder.AddCable(NodeId(0), between, type).ok());
  EXPECT_TRUE(builder.AddCable(NodeId(1), between, type).ok());
  return ValueOrDie(std::move(builder).Build());
}

class LossTest : public ::testing::TestWithParam<LossRecovery> {
 protected:
  PacketOptions Options() const {
    PacketOptions options = Plain();
    options.nic.window = WindowScope::kPath;
    options.nic.loss_recovery = GetParam();
    return options;
  }
};

// 16'384 data packets over two links, of which one in a thousand fails. A gap
// that later packets show costs little; 500 us are for what nothing follows.
TEST_P(LossTest, WhatLinksLoseIsSentAgain) {
  const Topology topology = Lossy("0.001");
  PacketBackend network(topology, Options());
  const TimePs finish = Finish(network, {From(0, 0, 1, MiB(64))});
  const NetworkStatistics& statistics = network.statistics();
  EXPECT_GT(statistics.num_losses, 10u);
  EXPECT_GE(statistics.num_retransmissions, 10u);
  EXPECT_EQ(statistics.num_drops, 0u);
  EXPECT_EQ(statistics.num_data_packets,
            16'384 + statistics.num_retransmissions);
  EXPECT_LT(finish, 3 * TransferTime(16'384 * kFull, Gbps(400)));
}

TEST_P(LossTest, TheRateOfErrorsMayBeOfAllLinks) {
  const Topology topology = Chain(1);
  PacketOptions options = Options();
  options.error_rate = 0.01;
  PacketBackend network(topology, options);
  Finish(network, {From(0, 0, 1, MiB(4))});
  EXPECT_GT(network.statistics().num_losses, 0u);
}

// 32 senders and a buffer of 1 MiB.
TEST_P(LossTest, WhatSwitchesDropIsSentAgain) {
  const Topology topology = Incast(32);
  PacketOptions options = Options();
  options.fabric.pfc = false;
  options.fabric.buffer = MiB(1);
  options.fabric.buffer_share = 1;
  PacketBackend network(topology, options);
  Finish(network, ToLast(32, KiB(256)));
  const NetworkStatistics& statistics = network.statistics();
  EXPECT_GT(statistics.num_drops, 0u);
  EXPECT_GT(statistics.num_retransmissions, 0u);
  EXPECT_EQ(statistics.num_losses, 0u);
  EXPECT_LE(statistics.links[65].max_queue, MiB(1));
}

// The last packet is lost with nothing behind it: only time shows that.
TEST_P(LossTest, TimeShowsThatTheLastPacketIsLost) {
  const Topology topology = Chain(1);
  PacketOptions options = Options();
  options.link_events = {{Nanoseconds(100), NodeId(0), NodeId(1), 0},
                         {Nanoseconds(200), NodeId(0), NodeId(1), 1}};
  options.nic.retransmission_timeout = Microseconds(50);
  PacketBackend network(topology, options);
  EXPECT_EQ(Finish(network, {From(0, 0, 1, Bytes(1000))}),
            Microseconds(50) + TransferTime(Bytes(1082), Gbps(400)) + kLatency);
  EXPECT_EQ(network.statistics().num_retransmissions, 1u);
}

// The second message is under way for less than the timeout, which counts from
// when it was sent, not from the last acknowledgement before.
TEST_P(LossTest, ToHaveNothingToSendIsNoTimeout) {
  const Topology topology = Chain(1, "400Gbps", "4us");
  PacketOptions options = Options();
  options.nic.retransmission_timeout = Microseconds(20);
  options.nic.completion = Completion::kAcknowledged;
  PacketBackend network(topology, options);
  Finish(network, {From(0, 0, 1, Bytes(0))});
  AdvanceTo(Nanoseconds(19'990), network);
  Finish(network, {From(1, 0, 1, KiB(4))});
  EXPECT_EQ(network.statistics().num_retransmissions, 0u);
}

// The queue before the slow link takes longer than the timeout, and PFC keeps
// all of it: nothing is lost, so nothing is sent again.
TEST_P(LossTest, WhatIsOnlyLateIsNotSentAgain) {
  const Topology topology = Drawing(3, 1, 0, 1)
                                .Cable(0, 3, "400Gbps", "500ns")
                                .Cable(1, 3, "400Gbps", "500ns")
                                .Cable(2, 3, "1Gbps", "500ns")
                                .Build();
  PacketOptions options = Options();
  options.nic.window = WindowScope::kNone;
  options.nic.retransmission_timeout = Microseconds(50);
  PacketBackend network(topology, options);
  Finish(network, {From(0, 0, 2, MiB(1)), From(1, 1, 2, KiB(64))});
  const NetworkStatistics& statistics = network.statistics();
  EXPECT_EQ(statistics.num_drops + statistics.num_losses, 0u);
  EXPECT_EQ(statistics.num_retransmissions, 0u);
}

TEST_P(LossTest, GivesUpAfterSomeTimeoutsAndSaysSo) {
  const Topology topology = Chain(2);
  PacketOptions options = Options();
  options.nic.retries = 2;
  options.error_rate = 0.999999;
  PacketBackend network(topology, options);
  network.Send(From(0, 0, 1, KiB(4)));
  EXPECT_THAT(Arrivals(network, 1), IsEmpty());
  EXPECT_EQ(network.WhyStuck(), "GPU 0 to GPU 1: given up after 2 retries");
  EXPECT_EQ(network.last_give_up(),
            (1 + 2 + 4) * options.nic.retransmission_timeout);
  EXPECT_EQ(network.statistics().num_data_packets, 3u);
}

// Queue pairs of their own take turns at the port, so short messages are there
// long before a long one that was sent first. They wait for it; those of
// another channel do not.
TEST(OrderTest, AMessageThatOvertakesWaitsForTheEarlierOnes) {
  const Topology topology = Chain(2);
  PacketOptions options = Plain();
  options.nic.queue_pairs = QueuePairs::kPerMessage;
  PacketBackend network(topology, options);
  network.Send(From(9, 0, 1, MiB(1)));
  network.Send(From(3, 0, 1, KiB(4)));
  network.Send(From(5, 0, 1, KiB(8)));
  network.Send(From(7, 0, 1, KiB(4), 1));
  const std::map<uint32_t, TimePs> times = Arrivals(network, 4);
  EXPECT_EQ(times.at(3), times.at(9));
  EXPECT_EQ(times.at(5), times.at(9));
  EXPECT_LT(times.at(7), Microseconds(2));
  EXPECT_GT(times.at(9), Microseconds(20));
}

// Pairs of GPUs below two switches share a link, both ways, and PFC holds them
// back. When a sender looks at its timer must not show.
TEST(TimeoutTest, AsLongAsNothingTimesOutItMakesNoDifference) {
  constexpr uint32_t kPairs = 8;
  testing::Drawing drawing(2 * kPairs, 1, 0, 2);
  for (uint32_t gpu = 0; gpu < 2 * kPairs; ++gpu) {
    drawing.Cable(gpu, 2 * kPairs + gpu / kPairs, "200Gbps", "500ns");
  }
  drawing.Cable(2 * kPairs, 2 * kPairs + 1, "400Gbps", "500ns");
  const Topology topology = drawing.Build();
  const auto arrivals = [&](TimePs timeout) {
    PacketOptions options;
    options.nic.payload = Bytes(8192);
    options.nic.retransmission_timeout = timeout;
    options.fabric.ecn = false;
    options.fabric.buffer = MiB(2);
    PacketBackend network(topology, options);
    for (uint32_t i = 0; i < kPairs; ++i) {
      AdvanceTo(int64_t{i} * TimePs(1'713'560), network);
      network.Send(From(2 * i, i, kPairs + i, Bytes(7'890'176)));
      network.Send(From(2 * i + 1, kPairs + i, i, Bytes(7'890'176)));
    }
    return Arrivals(network, size_t{2} * kPairs);
  };
  const auto expected = arrivals(Microseconds(100'000));
  for (const int us : {130, 172, 205, 223, 394}) {
    EXPECT_EQ(arrivals(Microseconds(us)), expected) << us;
  }
}

INSTANTIATE_TEST_SUITE_P(All, LossTest,
                         ::testing::Values(LossRecovery::kGoBackN,
                                           LossRecovery::kSelectiveRepeat),
                         [](const auto& test) {
                           return test.param == LossRecovery::kGoBackN
                                      ? "GoBackN"
                                      : "SelectiveRepeat";
                         });

TEST(SelectiveRepeatTest, SendsLessAgainThanGoBackN) {
  const Topology topology = Lossy("0.001");
  uint64_t sent_again[2];
  for (const auto recovery :
       {LossRecovery::kGoBackN, LossRecovery::kSelectiveRepeat}) {
    PacketOptions options = Plain();
    options.nic.window = WindowScope::kPath;
    options.nic.loss_recovery = recovery;
    PacketBackend network(topology, options);
    Finish(network, {From(0, 0, 1, MiB(16))});
    sent_again[static_cast<size_t>(recovery)] =
        network.statistics().num_retransmissions;
  }
  EXPECT_LT(sent_again[1], sent_again[0]);
}

}  // namespace
}  // namespace astra
