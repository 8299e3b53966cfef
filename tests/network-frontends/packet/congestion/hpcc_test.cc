#include "network-frontends/packet/congestion/hpcc.h"

#include <vector>

#include "tests/network-frontends/packet/congestion/one_queue_pair.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using testing::OneQueuePair;

// 100 Gbps are 12.5 kB per microsecond, B T is 100 kB, and W_AI = 50 Mbps x 8
// us is 50 B.
constexpr double kIncrease = 50;

HopTelemetry Hop(TimePs time, int64_t sent, int64_t queued,
                 Bandwidth rate = Gbps(100)) {
  return {
      .time = time, .sent_bytes = sent, .queued_bytes = queued, .rate = rate};
}

// A path of one port, through which a share of its rate flows.
class OnePort {
 public:
  explicit OnePort(const HpccOptions& options = HpccOptions())
      : pair_(options) {
    Send(TimePs(), 0);  // What is only remembered.
  }

  // Acknowledges 4 kB that left `after` the last, while `sent` bytes did.
  void Send(TimePs after, int64_t sent, int64_t queued = 0) {
    now_ += after;
    sent_ += sent;
    const HopTelemetry hop = Hop(now_, sent_, queued);
    pair_.Ack({.now = now_, .acked_bytes = 4'000, .hops = {&hop, 1}});
  }

  // Acknowledges 100 kB, a round trip of the port at `share` of its rate.
  void SendRoundTrip(double share) {
    now_ += Microseconds(8);
    sent_ += static_cast<int64_t>(share * 100'000);
    const HopTelemetry hop = Hop(now_, sent_, 0);
    pair_.Ack({.now = now_, .acked_bytes = 104'000, .hops = {&hop, 1}});
  }

  OneQueuePair<Hpcc>& pair() { return pair_; }

 private:
  OneQueuePair<Hpcc> pair_;
  TimePs now_;
  int64_t sent_ = 0;
};

TEST(HpccTest, StartsWithTheBandwidthDelayProductAtLineRate) {
  OneQueuePair<Hpcc> pair{HpccOptions()};
  EXPECT_EQ(pair.window(), 100'000);
  EXPECT_EQ(pair.gbps(), 100);
  EXPECT_EQ(pair.control().telemetry(), Telemetry::kPerHop);
  EXPECT_EQ(pair.control().header_bytes(5), 42);  // As the paper counts.
}

TEST(HpccTest, TakesTheBusiestOfTwoPorts) {
  OneQueuePair<Hpcc> pair{HpccOptions()};
  const HopTelemetry before[] = {Hop(TimePs(), 0, 0),
                                 Hop(TimePs(), 0, 40'000, Gbps(200))};
  // First port: 40 kB of 50 kB in 4 us, no queue: 0.8. Second: 70 kB of 100 kB,
  // and of the queues 30 kB and 40 kB the smaller, of 200 kB: 0.85.
  const HopTelemetry now[] = {Hop(Microseconds(4), 40'000, 20'000),
                              Hop(Microseconds(4), 70'000, 30'000, Gbps(200))};
  EXPECT_FALSE(pair.control().Measure(QueuePairId(0), {.hops = before}));
  const auto utilization =
      pair.control().Measure(QueuePairId(0), {.hops = now});
  // Half a round trip has passed: (1 - 1/2) 1 + 1/2 0.85.
  EXPECT_DOUBLE_EQ(utilization.value(), 0.925);
}

TEST(HpccTest, AFullPathShrinksTheWindowToTheTarget) {
  OnePort port;
  port.SendRoundTrip(1);  // U = 1
  const double window = 100'000 * 0.95 + kIncrease;
  EXPECT_EQ(port.pair().window(), window);
  EXPECT_NEAR(port.pair().gbps(), window * 8 / 8e-6 / 1e9, 1e-9);
}

TEST(HpccTest, AQueueShrinksItInProportion) {
  OnePort port;
  port.Send(Microseconds(8), 100'000, 60'000);  // No queue before: U = 1.
  port.Send(Microseconds(8), 100'000, 80'000);
  // U = 60/100 + 1, and the window of reference is 100 kB still.
  EXPECT_EQ(port.pair().window(), 100'000 * 0.95 / 1.6 + kIncrease);
}

TEST(HpccTest, AfterAPauseOnlyTheTimeSinceCounts) {
  OneQueuePair<Hpcc> pair{HpccOptions()};
  const HopTelemetry before = Hop(TimePs(), 0, 0);
  const HopTelemetry now = Hop(Microseconds(80), 500'000, 0);
  pair.control().Measure(QueuePairId(0), {.hops = {&before, 1}});
  EXPECT_DOUBLE_EQ(
      pair.control().Measure(QueuePairId(0), {.hops = {&now, 1}}).value(), 0.5);
}

TEST(HpccTest, UpdatesTheReferenceOncePerRoundTrip) {
  OnePort port;
  port.SendRoundTrip(1);
  const int64_t reference = port.pair().window();
  // 26 acknowledgements complete the round trip: each reacts from the same
  // reference, so twice the same feedback has no more effect than once.
  for (int i = 0; i < 25; ++i) {
    port.Send(Microseconds(8), 100'000);
    EXPECT_NEAR(static_cast<double>(port.pair().window()),
                static_cast<double>(reference) * 0.95 + kIncrease, 0.6);
  }
  port.Send(Microseconds(8), 100'000);  // Becomes the reference.
  const auto updated = static_cast<double>(port.pair().window());
  port.Send(Microseconds(8), 100'000);
  EXPECT_NEAR(static_cast<double>(port.pair().window()),
              updated * 0.95 + kIncrease, 0.6);
}

TEST(HpccTest, WithoutFastReactionNothingChangesInARoundTrip) {
  OnePort port(HpccOptions{.fast_react = false});
  port.SendRoundTrip(1);
  const int64_t window = port.pair().window();
  for (int i = 0; i < 25; ++i) {
    port.Send(Microseconds(8), 100'000);
    EXPECT_EQ(port.pair().window(), window);
  }
  port.Send(Microseconds(8), 100'000);
  EXPECT_LT(port.pair().window(), window);
}

TEST(HpccTest, AddsForSomeStagesThenScales) {
  OnePort port;
  port.SendRoundTrip(1);
  auto window = static_cast<double>(port.pair().window());
  for (int stage = 0; stage < 5; ++stage) {
    port.SendRoundTrip(0.76);
    window += kIncrease;
    EXPECT_EQ(port.pair().window(), window) << stage;
  }
  port.SendRoundTrip(0.76);  // 0.95 / 0.76 = 1.25, more than line rate allows.
  EXPECT_EQ(port.pair().window(), 100'000);
  EXPECT_EQ(port.pair().gbps(), 100);
}

TEST(HpccTest, StaysAtTheLeastRateAndAboveAPacket) {
  OnePort port;
  port.SendRoundTrip(1);
  for (int i = 0; i < 20; ++i) {
    port.Send(Microseconds(8), 100'000, 1'000'000'000);
    port.SendRoundTrip(1);
    port.Send(Microseconds(8), 100'000, 1'000'000'000);
    port.Send(Microseconds(8), 100'000, 1'000'000'000);
    EXPECT_GE(port.pair().gbps(), 0.1);
    EXPECT_GE(port.pair().window(), 4'000);
  }
}

TEST(HpccTest, SurvivesCountersOfAnotherPathAndStandingClocks) {
  OneQueuePair<Hpcc> pair{HpccOptions()};
  const std::vector<HopTelemetry> paths[] = {
      {Hop(Microseconds(5), 1'000'000, 0), Hop(Microseconds(5), 0, 0)},
      {Hop(Microseconds(5), 2'000'000, 0), Hop(Microseconds(4), 0, 0)},
      {Hop(Microseconds(6), 3, 0), Hop(Microseconds(7), 9'000'000'000, 0)},
      {Hop(Microseconds(8), 3, 0)},
      {Hop(Microseconds(9), 3, 0), Hop(Microseconds(9), 3, 0),
       Hop(Microseconds(9), 3, 0)},
      {}};
  for (int round = 0; round < 3; ++round) {
    for (const auto& hops : paths) {
      pair.Ack({.acked_bytes = 104'000, .hops = hops});
      EXPECT_GE(pair.window(), 4'000);
      EXPECT_LE(pair.window(), 100'000);
      EXPECT_GE(pair.gbps(), 80);  // Never fuller than full.
    }
  }
}

}  // namespace
}  // namespace astra
