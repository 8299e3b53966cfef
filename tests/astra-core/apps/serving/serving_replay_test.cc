#include "astra-core/apps/serving/serving_replay.h"

#include <gtest/gtest.h>

#include <vector>

namespace astra {
namespace {

// Requests that come each second; each takes what `seconds(i)` says.
template <class Seconds>
std::vector<ServedSpan> Spans(int count, Seconds seconds) {
  std::vector<ServedSpan> spans;
  for (int i = 0; i < count; ++i) {
    const TimePs arrival(i * kPsPerSecond);
    spans.push_back({arrival, arrival + TimePs(seconds(i) * kPsPerSecond)});
  }
  return spans;
}

TEST(IsSteadyTest, OneLongAnswerDoesNotCount) {
  EXPECT_TRUE(IsSteady(Spans(1000, [](int) { return 3; })));
  EXPECT_TRUE(IsSteady(Spans(1000, [](int i) { return i == 999 ? 5000 : 3; })));
}

// A tenth or a fourth of the requests more come than end, of 500.
TEST(IsSteadyTest, AGrowingQueueDoes) {
  EXPECT_TRUE(IsSteady(Spans(1000, [](int i) { return i / 9; })));
  EXPECT_FALSE(IsSteady(Spans(1000, [](int i) { return i / 3; })));
}

// 16 come in the second half of 32 seconds. Three roots of that are 12, but
// half must end.
TEST(IsSteadyTest, HalfMayBeMissingByChance) {
  EXPECT_TRUE(IsSteady(Spans(32, [](int i) { return i < 24 ? 0 : 100; })));
  EXPECT_FALSE(IsSteady(Spans(32, [](int i) { return i < 23 ? 0 : 100; })));
}

TEST(IsSteadyTest, AShortRunTellsNothing) {
  EXPECT_FALSE(IsSteady({}));
  EXPECT_FALSE(IsSteady(Spans(1, [](int) { return 0; })));
  EXPECT_FALSE(IsSteady(Spans(16, [](int) { return 100; })));
}

TEST(ReplayedLoadTest, FailsWhereRequestsPileUp) {
  ReplayedLoad load;
  load.share = 0.995;
  EXPECT_EQ(load.share_if_steady(), 0);
  load.is_steady = true;
  EXPECT_EQ(load.share_if_steady(), 0.995);
}

}  // namespace
}  // namespace astra
