#include "astra-core/results/message_times.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace astra {
namespace {

using ::testing::DoubleNear;

FlowRecord Sent(int64_t bytes, int64_t us, int64_t ideal_us) {
  FlowRecord message;
  message.bytes = Bytes(bytes);
  message.start = Microseconds(5);
  message.finish = Microseconds(5 + us);
  message.ideal = Microseconds(ideal_us);
  return message;
}

// Of 1 to 1000, half are at most 500 and 99 % at most 990.
TEST(LogHistogramTest, PercentilesAreWithinHalfAClass) {
  LogHistogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.Add(i, 1);
  EXPECT_EQ(histogram.count(), 1000u);
  EXPECT_THAT(histogram.Percentile(50), DoubleNear(500, 0.006 * 500));
  EXPECT_THAT(histogram.Percentile(99), DoubleNear(990, 0.006 * 990));
  EXPECT_THAT(histogram.Percentile(0), DoubleNear(1, 0.006));
  EXPECT_EQ(histogram.Percentile(100), 1000);
}

TEST(MessageTimesTest, AreByTheSizeAndOfAll) {
  MessageTimes times;
  times.Add(Sent(1024, 10, 5));
  times.Add(Sent(2047, 30, 5), 3);
  times.Add(Sent(2048, 8, 8));
  ASSERT_EQ(times.by_size().size(), 2u);
  const MessageDistributions& small = times.by_size().at(10);
  EXPECT_EQ(small.time_us.count(), 4u);
  EXPECT_THAT(small.slowdown.Percentile(50), DoubleNear(6, 0.04));
  EXPECT_EQ(times.by_size().at(11).slowdown.largest(), 1);
  EXPECT_EQ(times.All().time_us.count(), 5u);
  EXPECT_EQ(times.All().time_us.largest(), 30);
}

TEST(MessageTimesTest, SumsAreThoseOfAllMessages) {
  MessageTimes one;
  one.Add(Sent(64, 10, 5));
  MessageTimes other;
  other.Add(Sent(64, 20, 5));
  other.Add(one);
  other.Add(one);
  EXPECT_EQ(other.by_size().at(6).time_us.count(), 3u);
  EXPECT_THAT(other.by_size().at(6).time_us.Percentile(50),
              DoubleNear(10, 0.06));
}

}  // namespace
}  // namespace astra
