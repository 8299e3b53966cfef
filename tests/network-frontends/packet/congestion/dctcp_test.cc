#include "network-frontends/packet/congestion/dctcp.h"

#include "tests/network-frontends/packet/congestion/one_queue_pair.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using testing::OneQueuePair;

constexpr double kGain = 1.0 / 16;

// Acknowledges a round trip by 26 packets, of which the last `num_marked` were
// marked. The first acknowledgement of the next one ends it.
void RoundTrip(int num_marked, OneQueuePair<Dctcp>& pair) {
  for (int i = 0; i < 26; ++i) {
    pair.Ack({.acked_bytes = 4'000, .is_marked = i >= 26 - num_marked});
  }
}

// After its first acknowledgement, which begins a round trip.
OneQueuePair<Dctcp> Begun() {
  OneQueuePair<Dctcp> pair{DctcpOptions()};
  pair.Ack({.acked_bytes = 4'000});
  return pair;
}

TEST(DctcpTest, StartsAtLineRateWithItsWindow) {
  OneQueuePair<Dctcp> pair{DctcpOptions()};
  EXPECT_EQ(pair.gbps(), 100);
  EXPECT_EQ(pair.window(), 100'000);
}

TEST(DctcpTest, TheFirstMarkHalvesRateAndWindowOncePerRoundTrip) {
  OneQueuePair<Dctcp> pair = Begun();
  for (int i = 0; i < 25; ++i) {
    pair.Ack({.acked_bytes = 4'000, .is_marked = true});
    EXPECT_EQ(pair.gbps(), 50);
    EXPECT_EQ(pair.window(), 50'000);
  }
}

TEST(DctcpTest, AlphaAveragesTheShareOfMarkedBytes) {
  OneQueuePair<Dctcp> pair = Begun();
  double alpha = 1;
  for (int round = 0; round < 3; ++round) {
    RoundTrip(0, pair);
    alpha *= 1 - kGain;
  }
  EXPECT_EQ(pair.gbps(), 100);

  // The last packet of a round trip ends it: it is the first marked one, and
  // alpha is updated before the cut, with 1 of 26.
  RoundTrip(1, pair);
  alpha += kGain * (1.0 / 26 - alpha);
  EXPECT_NEAR(pair.gbps(), 100 * (1 - alpha / 2), 1e-8);
}

TEST(DctcpTest, AddsOncePerRoundTripWithoutACut) {
  OneQueuePair<Dctcp> pair = Begun();
  pair.Ack({.acked_bytes = 4'000, .is_marked = true});
  for (int i = 0; i < 25; ++i) pair.Ack({.acked_bytes = 4'000});
  EXPECT_EQ(pair.gbps(), 50);  // The cut still counts for this one.
  for (int round = 1; round <= 3; ++round) {
    RoundTrip(0, pair);
    EXPECT_EQ(pair.gbps(), 50 + round);
  }
  EXPECT_EQ(pair.window(), 53'000);
}

TEST(DctcpTest, StaysWithinLineRateAndTheLeast) {
  OneQueuePair<Dctcp> pair = Begun();
  for (int round = 0; round < 40; ++round) RoundTrip(26, pair);
  EXPECT_EQ(pair.gbps(), 0.1);
  EXPECT_EQ(pair.window(), 4'000);
  for (int round = 0; round < 120; ++round) RoundTrip(0, pair);
  EXPECT_EQ(pair.gbps(), 100);
}

TEST(DctcpTest, ALossHalvesOncePerRoundTrip) {
  OneQueuePair<Dctcp> pair = Begun();
  for (int round = 0; round < 9; ++round) RoundTrip(0, pair);
  pair.Lose(TimePs());
  pair.Lose(TimePs());
  EXPECT_EQ(pair.gbps(), 50);
  RoundTrip(0, pair);
  RoundTrip(0, pair);
  const double rate = pair.gbps();
  pair.Lose(TimePs());
  EXPECT_EQ(pair.gbps(), rate / 2);
}

}  // namespace
}  // namespace astra
