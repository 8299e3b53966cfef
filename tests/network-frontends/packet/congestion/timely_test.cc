#include "network-frontends/packet/congestion/timely.h"

#include <limits>

#include "tests/network-frontends/packet/congestion/one_queue_pair.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using testing::OneQueuePair;

constexpr TimelyOptions kUnsmoothed = {.ewma_weight = 1,
                                       .least_rtt = Microseconds(8),
                                       .low_threshold = Microseconds(58),
                                       .high_threshold = Microseconds(508)};

// A round trip that ended with this RTT.
void RoundTrip(TimePs rtt, OneQueuePair<Timely>& pair) {
  pair.Ack({.acked_bytes = 104'000, .rtt = rtt});
}

// Cut to half: 1 - 0.8 x 5/8, by an RTT that rose from 100 us to 105 us.
OneQueuePair<Timely> AtHalfRate(TimelyOptions options = kUnsmoothed) {
  OneQueuePair<Timely> pair{options};
  RoundTrip(Microseconds(100), pair);
  RoundTrip(Microseconds(105), pair);
  return pair;
}

TEST(TimelyTest, TheFirstRoundTripOnlyMeasures) {
  OneQueuePair<Timely> pair{TimelyOptions()};
  RoundTrip(Microseconds(10'000), pair);
  EXPECT_EQ(pair.gbps(), 100);
  EXPECT_EQ(pair.window(), std::numeric_limits<int64_t>::max());
}

TEST(TimelyTest, CutsByTheGradientBetweenTheThresholds) {
  EXPECT_DOUBLE_EQ(AtHalfRate().gbps(), 50);
}

TEST(TimelyTest, SmoothsTheGradient) {
  OneQueuePair<Timely> pair{TimelyOptions{.least_rtt = Microseconds(8)}};
  RoundTrip(Microseconds(100), pair);
  RoundTrip(Microseconds(104), pair);
  const double first = 0.875 * 4;
  EXPECT_NEAR(pair.gbps(), 100 * (1 - 0.8 * first / 8), 1e-8);

  RoundTrip(Microseconds(104), pair);  // 1/8 of it is left.
  EXPECT_NEAR(pair.gbps(),
              100 * (1 - 0.8 * first / 8) * (1 - 0.8 * first / 8 / 8), 1e-8);
}

TEST(TimelyTest, AddsWhileTheRttDoesNotRise) {
  OneQueuePair<Timely> pair = AtHalfRate();
  RoundTrip(Microseconds(105), pair);
  EXPECT_DOUBLE_EQ(pair.gbps(), 50.01);
  RoundTrip(Microseconds(90), pair);
  EXPECT_DOUBLE_EQ(pair.gbps(), 50.02);
}

TEST(TimelyTest, AddsMoreAfterFiveIncreasesInARow) {
  OneQueuePair<Timely> pair = AtHalfRate();
  for (int i = 0; i < 5; ++i) RoundTrip(Microseconds(105), pair);
  EXPECT_DOUBLE_EQ(pair.gbps(), 50.05);
  RoundTrip(Microseconds(105), pair);
  EXPECT_DOUBLE_EQ(pair.gbps(), 50.10);

  RoundTrip(Microseconds(106), pair);  // A cut, by 0.8 x 1/8, ends the row.
  EXPECT_NEAR(pair.gbps(), 50.10 * 0.9, 1e-8);
  RoundTrip(Microseconds(106), pair);
  EXPECT_NEAR(pair.gbps(), 50.10 * 0.9 + 0.01, 1e-8);
}

TEST(TimelyTest, AddsBelowTheLowThresholdWhateverTheGradient) {
  OneQueuePair<Timely> pair = AtHalfRate();
  RoundTrip(Microseconds(20), pair);
  RoundTrip(Microseconds(58) - TimePs(1), pair);
  EXPECT_DOUBLE_EQ(pair.gbps(), 50.02);
  RoundTrip(Microseconds(59), pair);  // A gradient of 1/8 from 58 us on.
  EXPECT_NEAR(pair.gbps(), 50.02 * 0.9, 1e-5);
}

TEST(TimelyTest, CutsAboveTheHighThresholdWhateverTheGradient) {
  OneQueuePair<Timely> pair{kUnsmoothed};
  RoundTrip(Microseconds(2'000), pair);
  RoundTrip(Microseconds(1'016), pair);  // Twice the threshold, and falling.
  EXPECT_NEAR(pair.gbps(), 100 * (1 - 0.8 * 0.5), 1e-8);
}

TEST(TimelyTest, ASteepGradientLeavesTheLeastRate) {
  OneQueuePair<Timely> pair{kUnsmoothed};
  RoundTrip(Microseconds(100), pair);
  RoundTrip(Microseconds(200), pair);
  EXPECT_DOUBLE_EQ(pair.gbps(), 0.1);
}

// A path whose own round trip takes longer sees the same thresholds.
TEST(TimelyTest, ThresholdsAndLeastRttAreThoseOfAllPaths) {
  PathProperties path = testing::PathOf100Gbps();
  path.base_rtt = Microseconds(100);
  OneQueuePair<Timely> pair{TimelyOptions{.ewma_weight = 1}, path};
  RoundTrip(Microseconds(100), pair);
  RoundTrip(Microseconds(105), pair);  // A gradient of 5/20.
  EXPECT_NEAR(pair.gbps(), 100 * (1 - 0.8 * 0.25), 1e-8);
  RoundTrip(Microseconds(1'000), pair);  // Twice the high threshold.
  EXPECT_NEAR(pair.gbps(), 80 * (1 - 0.8 * 0.5), 1e-8);
}

TEST(TimelyTest, ReactsOncePerRoundTrip) {
  OneQueuePair<Timely> pair = AtHalfRate();
  for (int i = 0; i < 25; ++i) {
    pair.Ack({.acked_bytes = 4'000, .rtt = Microseconds(200)});
    EXPECT_DOUBLE_EQ(pair.gbps(), 50);
  }
  pair.Ack({.acked_bytes = 4'000, .rtt = Microseconds(200)});
  EXPECT_DOUBLE_EQ(pair.gbps(), 0.1);
}

}  // namespace
}  // namespace astra
