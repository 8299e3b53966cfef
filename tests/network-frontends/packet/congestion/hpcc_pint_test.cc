#include "network-frontends/packet/congestion/hpcc_pint.h"

#include <cmath>
#include <cstdint>
#include <set>

#include "tests/network-frontends/packet/congestion/one_queue_pair.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using testing::OneQueuePair;

TEST(PintCodeTest, IsExactAtThePowersOfTheBase) {
  const PintCode code(1.05);
  double value = 0.01;
  for (int power = 0; power < 100; ++power) {
    EXPECT_EQ(code.Transmit(value, 0), value);
    EXPECT_EQ(code.Transmit(value, 0.999), value);
    value *= 1.05;
  }
}

TEST(PintCodeTest, RoundsSoThatTheMeanIsRight) {
  const PintCode code(1.05);
  for (const double utilization : {0.0123, 0.5, 0.95, 1.7, 42.0}) {
    double sum = 0;
    constexpr int kNum = 10'000;
    for (int i = 0; i < kNum; ++i) {
      const double read = code.Transmit(utilization, (i + 0.5) / kNum);
      EXPECT_LT(std::abs(read / utilization - 1), 0.05);
      sum += read;
    }
    EXPECT_NEAR(sum / kNum / utilization, 1, 1e-5);
  }
}

TEST(PintCodeTest, SaturatesAtBothEnds) {
  const PintCode code(1.05);
  EXPECT_EQ(code.Transmit(0, 0.5), 0.01);
  EXPECT_LT(code.Transmit(1e9, 0.5), 100);
  EXPECT_GT(code.Transmit(1e9, 0.5), 100 / 1.05);
}

TEST(PintCodeTest, TakesTheBytesItsCodesNeed) {
  EXPECT_EQ(PintCode(1.05).num_bytes(), 1);  // ln 1e4 / ln 1.05 = 189 codes.
  EXPECT_EQ(PintCode(1.01).num_bytes(), 2);  // 926 codes.
  EXPECT_EQ(PintCode(1 + 1e-12).num_bytes(), 2);
}

// One acknowledgement after another by 8 us, each of a full port.
void Congest(int num, OneQueuePair<HpccPint>& pair) {
  for (int i = 0; i <= num; ++i) {
    pair.Ack({.now = int64_t{i} * Microseconds(8),
              .acked_bytes = 4'000,
              .utilization = 1});
  }
}

TEST(HpccPintTest, ReactsAsHpccWithinTheResolutionOfTheCode) {
  OneQueuePair<HpccPint> pair{HpccPintOptions()};
  EXPECT_EQ(pair.control().header_bytes(5), 1);
  Congest(1, pair);
  EXPECT_NEAR(static_cast<double>(pair.window()), 100'000 * 0.95 + 50,
              0.05 * 95'000);
}

TEST(HpccPintTest, ReactsOnlyToPacketsThatCarryTheCode) {
  OneQueuePair<HpccPint> never{HpccPintOptions{.sampling_share = 0}};
  Congest(100, never);
  EXPECT_EQ(never.window(), 100'000);

  OneQueuePair<HpccPint> seldom{HpccPintOptions{.sampling_share = 0.1}};
  Congest(100, seldom);
  EXPECT_LT(seldom.window(), 100'000);
}

// The draw that samples a packet must not be the one that rounds its code.
TEST(HpccPintTest, SampledPacketsRoundBothWays) {
  OneQueuePair<HpccPint> pair{HpccPintOptions{.sampling_share = 0.1}};
  std::set<int64_t> windows;
  for (int i = 0; i < 1'000; ++i) {
    pair.Ack({.now = int64_t{i} * Microseconds(8),
              .acked_bytes = 1,
              .utilization = 1});
    windows.insert(pair.window());
  }
  EXPECT_EQ(windows.size(), 3);  // The first, and those of two codes.
}

}  // namespace
}  // namespace astra
