#include "network-frontends/packet/congestion/swift.h"

#include <cmath>

#include "tests/network-frontends/packet/congestion/one_queue_pair.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using testing::OneQueuePair;

// The base RTT is 8 us, 5 us are added, and 1 us for each of 2 hops.
constexpr double kTarget = 15;  // Microseconds, without flow scaling.
constexpr SwiftOptions kUnscaled = {.flow_scaling_range = 0};

// In microseconds, for 5 x 5 us between windows of 0.1 and 100 packets.
double FlowScaling(double window) {
  const double slope = 25 / (1 / std::sqrt(0.1) - 1 / std::sqrt(100.0));
  return std::clamp(slope * (1 / std::sqrt(window) - 0.1), 0.0, 25.0);
}

Acknowledgement Ack(TimePs now, TimePs rtt) {
  return {.now = now, .acked_bytes = 4'000, .rtt = rtt};
}

TEST(SwiftTest, StartsWithTheBandwidthDelayProduct) {
  OneQueuePair<Swift> pair{SwiftOptions()};
  EXPECT_EQ(pair.window(), 100'000);  // 25 packets.
  EXPECT_EQ(pair.gbps(), 100);
}

TEST(SwiftTest, AddsAPacketPerWindowBelowTheTarget) {
  OneQueuePair<Swift> pair{kUnscaled};
  pair.Ack(Ack(Microseconds(8), Microseconds(15) - TimePs(1)));
  EXPECT_EQ(pair.window(), (25 + 1.0 / 25) * 4'000);
  pair.Ack(
      {.now = Microseconds(9), .acked_bytes = 8'000, .rtt = Microseconds(8)});
  EXPECT_NEAR(static_cast<double>(pair.window()), (25.04 + 2 / 25.04) * 4'000,
              0.5);
}

TEST(SwiftTest, CutsByTheExcessOverTheTarget) {
  OneQueuePair<Swift> pair{kUnscaled};
  pair.Ack(Ack(Microseconds(20), Microseconds(20)));
  const double factor = 1 - 0.8 * (20 - kTarget) / 20;
  EXPECT_EQ(pair.window(), 100'000 * factor);
}

TEST(SwiftTest, CutsByHalfAtMost) {
  OneQueuePair<Swift> pair{kUnscaled};
  pair.Ack(Ack(Microseconds(500), Microseconds(500)));
  EXPECT_EQ(pair.window(), 50'000);
}

TEST(SwiftTest, CutsOncePerRtt) {
  OneQueuePair<Swift> pair{kUnscaled};
  pair.Ack(Ack(Microseconds(100), Microseconds(60)));
  EXPECT_EQ(pair.window(), 50'000);
  pair.Ack(Ack(Microseconds(160) - TimePs(1), Microseconds(60)));
  EXPECT_EQ(pair.window(), 50'000);
  pair.Ack(Ack(Microseconds(160), Microseconds(60)));
  EXPECT_EQ(pair.window(), 25'000);
}

TEST(SwiftTest, SmallWindowsAimForALongerQueue) {
  OneQueuePair<Swift> pair{SwiftOptions()};
  // A window of 25 packets.
  const double scaled = kTarget + FlowScaling(25);
  EXPECT_NEAR(scaled, 15 + 0.816, 1e-3);
  const auto target = TimePs(std::llround(scaled * 1e6));
  pair.Ack(Ack(Microseconds(8), target - TimePs(2)));
  EXPECT_GT(pair.window(), 100'000);

  OneQueuePair<Swift> late{SwiftOptions()};
  late.Ack(Ack(Microseconds(8), target + Nanoseconds(1)));
  EXPECT_LT(late.window(), 100'000);
}

TEST(SwiftTest, FlowScalingEndsAtItsRange) {
  for (const bool is_late : {false, true}) {
    OneQueuePair<Swift> pair{SwiftOptions()};
    // Down to the least: 100 Mbps for 8 us are 0.025 packets, less than the 0.1
    // at which the target is 15 us and 25 us.
    for (int i = 1; i <= 12; ++i) {
      pair.Ack(Ack(int64_t{i} * Microseconds(500), Microseconds(500)));
    }
    const TimePs target = Microseconds(15 + 25);
    pair.Ack(Ack(Microseconds(6'001), is_late ? target : target - TimePs(1)));
    EXPECT_EQ(pair.window(), is_late ? 4'000 : 4'100);
  }
}

TEST(SwiftTest, PacesBelowAPacket) {
  OneQueuePair<Swift> pair{kUnscaled};
  // 25/2^5 packets.
  for (int i = 1; i <= 5; ++i) {
    pair.Ack(Ack(int64_t{i} * Microseconds(100), Microseconds(100)));
  }
  EXPECT_EQ(pair.window(), 4'000);
  const double bits = 25.0 / 32 * 32'000;
  EXPECT_NEAR(pair.gbps(), bits / 100e-6 / 1e9, 1e-8);

  // The window grows by a packet per packet there: 25/32 + 1.
  pair.Ack(Ack(Microseconds(600), Microseconds(10)));
  EXPECT_EQ(pair.window(), 4'000 * (25.0 / 32 + 1));
  EXPECT_EQ(pair.gbps(), 100);
}

TEST(SwiftTest, StaysBetweenTheLeastRateAndWhatFillsTheTarget) {
  OneQueuePair<Swift> pair{SwiftOptions()};
  for (int i = 1; i <= 100; ++i) {
    pair.Ack(Ack(int64_t{i} * Microseconds(500), Microseconds(500)));
    EXPECT_GE(pair.gbps(), 0.1);
    EXPECT_GE(pair.window(), 4'000);
  }
  EXPECT_EQ(pair.gbps(), 0.1);
  for (int i = 0; i < 10'000; ++i) {
    pair.Ack(Ack(Microseconds(50'000 + i), Microseconds(8)));
  }
  EXPECT_EQ(pair.window(), 100'000 * kTarget / 8);
}

TEST(SwiftTest, ALossHalvesAndTheFifthTimeoutLeavesTheLeast) {
  OneQueuePair<Swift> pair{SwiftOptions()};
  pair.Lose(Microseconds(100));
  EXPECT_EQ(pair.window(), 50'000);
  pair.Lose(Microseconds(101));
  EXPECT_EQ(pair.window(), 50'000);

  for (int i = 0; i < 4; ++i) pair.Lose(Microseconds(101), /*is_timeout=*/true);
  pair.Ack({.now = Microseconds(101), .rtt = Microseconds(8)});
  for (int i = 0; i < 4; ++i) pair.Lose(Microseconds(101), /*is_timeout=*/true);
  EXPECT_EQ(pair.window(), 50'000);
  pair.Lose(Microseconds(101), /*is_timeout=*/true);
  EXPECT_EQ(pair.gbps(), 0.1);
}

}  // namespace
}  // namespace astra
