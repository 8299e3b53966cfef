#include "network-frontends/packet/congestion/uec.h"

#include "tests/network-frontends/packet/congestion/one_queue_pair.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using testing::OneQueuePair;

// Base RTT and target are 8 us, so an RTT of 16 us is late.
constexpr double kScale = 100'000.0 / 150'000;  // a
constexpr double kDelayScale = 8.0 / 12;        // b
constexpr double kPacket = 4'000;
constexpr double kMaxWindow = 150'000;
constexpr TimePs kEarly = Microseconds(12);  // Half the target.
constexpr TimePs kLate = Microseconds(16);

// Adjusts at every acknowledgement, and has neither periodic increases nor
// quick adapts.
constexpr UecOptions kPlain = {
    .periodic_increase = 0, .adjust_packets = 0, .quick_adapt_below = 0};

// A queue pair whose window has been cut to half: by a delay of 1 s the average
// exceeds the target so that the cut is the largest. Then 8 us pass.
OneQueuePair<Uec> AtHalfWindow(UecOptions options = kPlain) {
  UecOptions cutting = options;
  OneQueuePair<Uec> pair{cutting};
  pair.Ack({.now = Microseconds(9),
            .acked_bytes = 4'000,
            .is_marked = true,
            .rtt = Microseconds(1'000'000)});
  EXPECT_EQ(pair.window(), kMaxWindow / 2);
  return pair;
}

TEST(UecTest, StartsWithTheLargestWindowUnpaced) {
  OneQueuePair<Uec> pair{UecOptions()};
  EXPECT_EQ(pair.window(), kMaxWindow);
  EXPECT_EQ(pair.gbps(), 100);
}

TEST(UecTest, IncreasesInProportionToWhatIsLeftOfTheTarget) {
  OneQueuePair<Uec> pair = AtHalfWindow();
  pair.Ack({.now = Microseconds(10), .acked_bytes = 4'000, .rtt = kEarly});
  const double gain = 4 * kScale * kDelayScale * kPacket;
  EXPECT_NEAR(static_cast<double>(pair.window()),
              75'000 + gain * 0.5 * 4'000 / 75'000, 0.5);
}

TEST(UecTest, IncreasesFairlyWhereCongestionIsOver) {
  OneQueuePair<Uec> pair = AtHalfWindow();
  pair.Ack({.now = Microseconds(10), .acked_bytes = 4'000, .rtt = kLate});
  EXPECT_NEAR(static_cast<double>(pair.window()),
              75'000 + 5 * kScale * kPacket * 4'000 / 75'000, 0.5);
}

TEST(UecTest, DoesNothingWhereCongestionBegins) {
  OneQueuePair<Uec> pair = AtHalfWindow();
  pair.Ack({.now = Microseconds(100),
            .acked_bytes = 4'000,
            .is_marked = true,
            .rtt = kLate - TimePs(1)});
  EXPECT_EQ(pair.window(), 75'000);
}

TEST(UecTest, CutsByTheExcessOfTheAverageDelay) {
  OneQueuePair<Uec> pair{kPlain};
  // More than a window at once: the average becomes this delay, 12 us.
  pair.Ack({.now = Microseconds(20),
            .acked_bytes = 200'000,
            .is_marked = true,
            .rtt = Microseconds(20)});
  EXPECT_NEAR(static_cast<double>(pair.window()),
              kMaxWindow * (1 - 0.8 * (12.0 - 8) / 12), 0.5);
}

TEST(UecTest, DoesNotCutWhileTheAverageIsBelowTheTarget) {
  OneQueuePair<Uec> pair{kPlain};
  pair.Lose(TimePs());
  pair.Ack({.now = Microseconds(20),
            .acked_bytes = 4'000,
            .is_marked = true,
            .rtt = Microseconds(20)});
  EXPECT_EQ(pair.window(), kMaxWindow - 4'000);
}

TEST(UecTest, CutsOncePerBaseRtt) {
  OneQueuePair<Uec> pair = AtHalfWindow();
  const Acknowledgement late = {
      .acked_bytes = 4'000, .is_marked = true, .rtt = Microseconds(1'000'000)};
  for (const int64_t now : {10, 17}) {
    Acknowledgement ack = late;
    ack.now = Microseconds(now);
    pair.Ack(ack);
    EXPECT_EQ(pair.window(), 75'000);
  }
  Acknowledgement ack = late;
  ack.now = Microseconds(17) + TimePs(1);
  pair.Ack(ack);
  EXPECT_EQ(pair.window(), 37'500);
}

TEST(UecTest, AppliesIncreasesTogether) {
  UecOptions options = kPlain;
  options.adjust_packets = 8;
  OneQueuePair<Uec> pair = AtHalfWindow(options);
  // At 9 us a round trip was over and all was applied. Eight packets are not
  // more than eight.
  const Acknowledgement ack = {
      .now = Microseconds(10), .acked_bytes = 4'000, .rtt = kLate};
  for (int i = 0; i < 8; ++i) {
    pair.Ack(ack);
    EXPECT_EQ(pair.window(), 75'000) << i;
  }
  pair.Ack(ack);
  EXPECT_NEAR(static_cast<double>(pair.window()),
              75'000 + 9 * 5 * kScale * kPacket * 4'000 / 75'000, 0.5);
}

TEST(UecTest, AddsALittleEachRoundTrip) {
  UecOptions options = kPlain;
  options.fair_increase = 0;
  options.periodic_increase = 0.15;
  OneQueuePair<Uec> pair{options};
  pair.Ack({.now = Microseconds(9),
            .acked_bytes = 4'000,
            .is_marked = true,
            .rtt = Microseconds(1'000'000)});
  const double step = 0.15 * kScale * kPacket;
  const double window = 75'000 + step;
  EXPECT_EQ(pair.window(), window);
  pair.Ack({.now = Microseconds(16), .acked_bytes = 4'000, .rtt = kLate});
  EXPECT_EQ(pair.window(), window);
  pair.Ack({.now = Microseconds(17), .acked_bytes = 4'000, .rtt = kLate});
  EXPECT_EQ(pair.window(), window + step);
}

TEST(UecTest, GrowsFastAfterAWindowWithoutDelayUntilThereIsSome) {
  UecOptions options = kPlain;
  options.proportional_gain = 0;
  OneQueuePair<Uec> pair = AtHalfWindow(options);
  const TimePs undelayed = Microseconds(9) - TimePs(1);
  for (int i = 0; i < 18; ++i) {  // 72 kB.
    pair.Ack({.now = Microseconds(10), .acked_bytes = 4'000, .rtt = undelayed});
  }
  EXPECT_EQ(pair.window(), 75'000);
  double window = 75'000;
  for (int i = 0; i < 3; ++i) {
    pair.Ack({.now = Microseconds(10), .acked_bytes = 4'000, .rtt = undelayed});
    window += 0.25 * kScale * 4'000;
    EXPECT_NEAR(static_cast<double>(pair.window()), window, 0.5);
  }
  pair.Ack(
      {.now = Microseconds(10), .acked_bytes = 4'000, .rtt = Microseconds(9)});
  pair.Ack({.now = Microseconds(10), .acked_bytes = 4'000, .rtt = undelayed});
  EXPECT_NEAR(static_cast<double>(pair.window()), window, 0.5);
}

// Of a window of 150 kB less than 18.75 kB was delivered in a period of 16 us.
TEST(UecTest, AdaptsToWhatWasDeliveredAfterALoss) {
  OneQueuePair<Uec> pair{UecOptions()};
  pair.Ack({.now = Microseconds(8), .acked_bytes = 4'000, .rtt = kEarly});
  pair.Ack({.now = Microseconds(10), .acked_bytes = 8'000, .rtt = kEarly});
  pair.Lose(Microseconds(24));
  EXPECT_EQ(pair.window(), 8'000);

  // 100 kB were under way: what is marked of them changes nothing.
  for (int i = 0; i < 25; ++i) {
    EXPECT_EQ(pair.window(), 8'000) << i;
    pair.Ack({.now = Microseconds(40 + i),
              .acked_bytes = 4'000,
              .is_marked = true,
              .rtt = Microseconds(1'000)});
  }
  EXPECT_LT(pair.window(), 8'000);
}

TEST(UecTest, AdaptsOncePerLoss) {
  OneQueuePair<Uec> pair{UecOptions()};
  pair.Ack({.now = Microseconds(8), .acked_bytes = 4'000, .rtt = kEarly});
  pair.Ack({.now = Microseconds(10), .acked_bytes = 8'000, .rtt = kEarly});
  pair.Lose(Microseconds(24));
  pair.Ack({.now = Microseconds(41), .acked_bytes = 4'000, .rtt = kEarly});
  EXPECT_GE(pair.window(), 8'000);
}

TEST(UecTest, AdaptsToWhatWasDeliveredWhereTheDelayIsSevere) {
  OneQueuePair<Uec> pair{UecOptions()};
  pair.Ack({.now = Microseconds(8), .acked_bytes = 4'000, .rtt = kEarly});
  pair.Ack({.now = Microseconds(24),
            .acked_bytes = 12'000,
            .rtt = Microseconds(8 + 32) + TimePs(1)});
  EXPECT_EQ(pair.window(), 12'000);
}

TEST(UecTest, ALossTakesAPacketWhereMuchWasDelivered) {
  OneQueuePair<Uec> pair{UecOptions()};
  pair.Ack({
      .now = Microseconds(8),
      .acked_bytes = 4'000,
      .rtt = kLate,
  });
  pair.Ack({.now = Microseconds(10), .acked_bytes = 100'000, .rtt = kLate});
  EXPECT_EQ(pair.window(), kMaxWindow);
  pair.Lose(Microseconds(24));
  EXPECT_EQ(pair.window(), kMaxWindow - 4'000);
}

TEST(UecTest, NeverFallsBelowAPacket) {
  OneQueuePair<Uec> pair{UecOptions()};
  for (int i = 0; i < 100; ++i) pair.Lose(Microseconds(i));
  EXPECT_EQ(pair.window(), 4'000);
}

}  // namespace
}  // namespace astra
