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
