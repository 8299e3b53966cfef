// The contract of congestion controls in the network, for each there is.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "network-frontends/packet/congestion/registry.h"
#include "tests/network-frontends/packet/packet_runs.h"

namespace astra {
namespace {

using namespace ::astra::testing;  // NOLINT: what tests are written in.

class CongestionTest : public ::testing::TestWithParam<std::string> {
 protected:
  PacketOptions Options() const {
    PacketOptions options;
    options.congestion.name = GetParam();
    return options;
  }
  // The share of the rate that its headers leave for payload.
  double PayloadShare() const {
    const auto control = ValueOrDie(FindCongestionControl(GetParam()));
    const PacketOptions options;
    const int64_t header = options.nic.header.count() +
                           control->make(options.congestion)->header_bytes(5);
    return 4096.0 / static_cast<double>(4096 + header);
  }
  // Of the line, 400 Gbps.
  static double ShareOfLine(Bytes bytes, TimePs time) {
    return static_cast<double>(TransferTime(bytes, Gbps(400)).count()) /
           static_cast<double>(time.count());
  }
};

// HPCC and HPCC-PINT aim for 95 % of the line.
TEST_P(CongestionTest, AloneAFlowHasTheLine) {
  const Topology topology = Chain(2, "400Gbps", "1us");
  PacketBackend network(topology, Options());
  const TimePs finish = Finish(network, {From(0, 0, 1, MiB(32))});
  const double aim = GetParam().starts_with("hpcc") ? 0.95 : 1;
  EXPECT_GE(ShareOfLine(MiB(32), finish), 0.95 * aim * PayloadShare());
  EXPECT_EQ(network.statistics().num_retransmissions, 0u);
}

TEST_P(CongestionTest, TwoFlowsHaveHalfOfTheLineEach) {
  const Topology topology = Incast(2);
  PacketBackend network(topology, Options());
  for (const Message& message : ToLast(2, MiB(16))) network.Send(message);
  const std::map<uint32_t, TimePs> times = Arrivals(network, 2);
  const auto [first, last] = std::minmax(times.at(0), times.at(1));
  EXPECT_GT(ToMicroseconds(first), 0.8 * ToMicroseconds(last));
  EXPECT_GE(ShareOfLine(MiB(32), last), 0.8 * PayloadShare());
}

// 32 senders at once; the lossless buffer holds little for each.
TEST_P(CongestionTest, AnIncastLosesNothingAndPausesLessThanWithoutControl) {
  const Topology topology = Incast(32);
  const auto pauses = [&](const std::string& control, TimePs* finish) {
    PacketOptions options = Options();
    options.congestion.name = control;
    options.fabric.buffer_share = 0.01;
    PacketBackend network(topology, options);
    *finish = Finish(network, ToLast(32, MiB(2)));
    EXPECT_EQ(network.statistics().num_drops, 0u);
    uint64_t sum = 0;
    for (const LinkRecord& link : network.statistics().links) {
      sum += link.pauses;
    }
    return sum;
  };
  TimePs finish;
  const uint64_t with = pauses(GetParam(), &finish);
  EXPECT_GE(ShareOfLine(MiB(64), finish), 0.2 * PayloadShare());
  TimePs without_control;
  const uint64_t without = pauses("none", &without_control);
  EXPECT_LE(with, without);
  if (GetParam() == "dcqcn" || GetParam() == "hpcc" || GetParam() == "swift") {
    EXPECT_LE(2 * with, without);
  }
}

TEST_P(CongestionTest, TheSameSeedGivesTheSameBytes) {
  const Topology topology = TwoSpines(4);
  std::vector<std::map<uint32_t, TimePs>> seen;
  for (int run = 0; run < 2; ++run) {
    PacketBackend network(topology, Options());
    for (uint32_t i = 0; i < 16; ++i) {
      network.Send(From(i, i % 4, 4 + (i + i / 4) % 4, KiB(256)));
    }
    seen.push_back(Arrivals(network, 16));
  }
  EXPECT_EQ(seen[0], seen[1]);
}

// Six queue pairs of one GPU fill their own port, which is no congestion: each
// receiver's port is used to a sixth.
TEST(HpccInNetworkTest, TheSendersOwnPortDoesNotCount) {
  Drawing drawing(7, 1, 0, 1);
  for (uint32_t i = 0; i < 7; ++i) drawing.Cable(i, 7);
  const Topology topology = drawing.Build();
  PacketOptions options;
  options.congestion.name = "hpcc";
  options.record.sample_interval = Microseconds(10);
  PacketBackend network(topology, options);
  std::vector<Message> messages;
  for (uint32_t i = 0; i < 6; ++i) {
    messages.push_back(From(i, 6, i, MiB(1)));
  }
  Finish(network, messages);
  const NetworkStatistics& statistics = network.statistics();
  ASSERT_FALSE(statistics.rates.empty());
  for (const RateSample& sample : statistics.rates) {
    EXPECT_EQ(sample.rate, Gbps(400)) << ToMicroseconds(sample.time);
  }
}

// A rate of 100 Mbps keeps packets 334 us apart. A sender whose first packets
// met a full port must not wait for that once acknowledgements raise its rate.
TEST(HpccInNetworkTest, ANewRateMovesThePacketThatWaits) {
  const Topology topology = Incast(7);
  PacketOptions options;
  options.congestion.name = "hpcc";
  options.congestion.of<Hpcc>().max_stages = 0;
  PacketBackend network(topology, options);
  const TimePs finish = Finish(network, ToLast(7, MiB(1)));
  EXPECT_LT(finish, Microseconds(200));  // 150 us at line rate.
}

// A NIC of 8 Gbps, which is 1 B/ns, before a link of 2 Gbps. Each packet leaves
// the switch with others behind it and a mark, except the first. The sender
// learns of that after 40'032 ns, when packet 9 is leaving, and then every
// 16'712 ns. The decrease comes 2 ns after the first report, and 1 ns or less
// after the others; each halves the rate, since alpha is still 1.
class PaceTest : public ::testing::Test {
 protected:
  // Runs a message of so many packets, with a NIC that does (`follows`) or does
  // not take rising rates at once and that increases its rate after `rise`.
  NetworkStatistics Run(bool follows, TimePs rise, int64_t packets) const {
    const Topology topology = Drawing(2, 1, 0, 1)
                                  .Cable(0, 2, "8Gbps", "500ns")
                                  .Cable(2, 1, "2Gbps", "500ns")
                                  .Build();
    PacketOptions options = Plain();
    options.fabric.ecn = true;
    options.fabric.ecn_thresholds = {{Gbps(2), Bytes(1), Bytes(2), 1}};
    options.nic.pace_follows_rate = follows;
    options.congestion.name = "dcqcn";
    options.congestion.of<Dcqcn>().decrease_interval = Nanoseconds(1);
    options.congestion.of<Dcqcn>().increase_interval = rise;
    options.record.captured_link = LinkId(0);
    PacketBackend network(topology, options);
    Finish(network, {From(0, 0, 1, packets * KiB(4))});
    return network.statistics();
  }

  // When packet `number`, of 14, begins to leave the NIC.
  TimePs Start(bool follows, TimePs rise, size_t number) const {
    return Run(follows, rise, 14).captured.at(number).time;
  }
};

// Packet 10 leaves after 41'780 ns at 4 Gbps; the next is due after 50'136 ns.
// At 6 Gbps, three quarters of the line, it is due 5570.667 ns after packet 10.
TEST_F(PaceTest, ARateThatRisesMovesThePacketThatWaits) {
  const TimePs due = Nanoseconds(50'136);
  const TimePs early = Microseconds(5);  // The rate rises after 45'034 ns.
  EXPECT_EQ(Start(true, early, 11), TimePs(41'780'000 + 5'570'667));
  EXPECT_EQ(Start(false, early, 11), due);
  const TimePs late = Microseconds(8);  // After 48'034 ns, when it is overdue.
  EXPECT_EQ(Start(true, late, 11), Nanoseconds(48'034));
  EXPECT_EQ(Start(false, late, 11), due);
}

// The first decrease comes while packet 9 is leaving, the second after 56'746
// ns while packet 12 waits: neither holds for the packet that waits.
TEST_F(PaceTest, ARateThatFallsHoldsFromThePacketAfterIt) {
  for (const bool follows : {true, false}) {
    const TimePs never = Microseconds(1'000);
    EXPECT_EQ(Start(follows, never, 10), Nanoseconds(41'780));
    EXPECT_EQ(Start(follows, never, 11), Nanoseconds(50'136));
    EXPECT_EQ(Start(follows, never, 12), Nanoseconds(58'492));
    EXPECT_EQ(Start(follows, never, 13), Nanoseconds(58'492 + 16'712));
  }
}

// The pace of the last packet ends after 50'136 ns, and the rate rises after
// 52'034 ns.
TEST_F(PaceTest, APaceThatIsOverStaysAsItWas) {
  EXPECT_EQ(Run(true, Microseconds(12), 11).sending, Nanoseconds(50'136));
}

TEST(CollapseTest, SlowSendersAreCounted) {
  const Topology topology = Incast(2);
  PacketOptions options;
  options.congestion.name = "timely";
  // Every round trip is too long.
  options.congestion.of<Timely>().low_threshold = Nanoseconds(1);
  options.congestion.of<Timely>().high_threshold = Nanoseconds(2);
  PacketBackend slow(topology, options);
  Finish(slow, ToLast(2, MiB(1)));
  const NetworkStatistics& of_slow = slow.statistics();
  EXPECT_GT(of_slow.sending_slowly.count(), of_slow.sending.count() / 2);

  options.congestion.name = "none";
  PacketBackend fast(topology, options);
  Finish(fast, ToLast(2, MiB(1)));
  EXPECT_EQ(fast.statistics().sending_slowly, TimePs());
  EXPECT_GT(fast.statistics().sending, TimePs());
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const CongestionControlEntry& entry : CongestionControls()) {
    names.emplace_back(entry.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, CongestionTest, ::testing::ValuesIn(Names()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace astra
