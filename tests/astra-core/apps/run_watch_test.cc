#include "astra-core/apps/run_watch.h"

#include <chrono>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using Clock = RunActivity::Clock;
using std::chrono::milliseconds;

CollectiveRecord RecordOf(CollectiveKind kind, uint32_t num_ranks,
                          int64_t bytes, int64_t us) {
  CollectiveRecord record;
  record.communication = {kind, ParallelDimension::kTensor, Bytes(bytes)};
  record.num_ranks = num_ranks;
  record.time = Microseconds(us);
  return record;
}

TEST(RunActivityTest, NamesTheTwoCollectivesThatEndedLast) {
  RunActivity activity;
  EXPECT_EQ(activity.Describe({}, Clock::now()), "");
  activity.End(RecordOf(CollectiveKind::kBroadcast, 2, 1, 1));
  activity.End(RecordOf(CollectiveKind::kAllReduce, 8, 16'777'216, 170));
  activity.End(RecordOf(CollectiveKind::kAllGather, 4, 1000, 20));
  EXPECT_EQ(activity.Describe({}, Clock::now()),
            "ended: all-gather over TP, 4 ranks, 0.001 MB: 0.020 ms; "
            "all-reduce over TP, 8 ranks, 16.8 MB: 0.170 ms");
}

// All groups of a dimension do the same at about the same time.
TEST(RunActivityTest, NamesCollectivesThatAreAlikeOnce) {
  RunActivity activity;
  activity.End(RecordOf(CollectiveKind::kBroadcast, 2, 1000, 1));
  for (const int64_t us : {170, 180, 190}) {
    activity.End(RecordOf(CollectiveKind::kAllReduce, 8, 1000, us));
  }
  EXPECT_EQ(activity.Describe({}, Clock::now()),
            "ended: all-reduce over TP, 8 ranks, 0.001 MB: 0.190 ms; "
            "broadcast over TP, 2 ranks, 0.001 MB: 0.001 ms");
}

TEST(RunActivityTest, CountsEventsAndMessagesSinceTheLastTime) {
  RunActivity activity;
  const Clock::time_point begin = Clock::now();
  activity.Describe({}, begin);
  EXPECT_EQ(activity.Describe({.events = 4'000'000, .messages = 1'250'000},
                              begin + milliseconds(500)),
            "8 M events/s  2.5 M messages/s");
  EXPECT_EQ(activity.Describe({.events = 4'000'000, .messages = 1'250'200},
                              begin + milliseconds(700)),
            "0 events/s  1 k messages/s");
  // Another simulation counts from 0.
  EXPECT_EQ(activity.Describe({.events = 8, .messages = 4},
                              begin + milliseconds(900)),
            "40 events/s  20 messages/s");
}

TEST(RunActivityTest, LeavesOutMessagesOfARunThatHasNone) {
  RunActivity activity;
  const Clock::time_point begin = Clock::now();
  activity.Describe({}, begin);
  activity.End(RecordOf(CollectiveKind::kAllReduce, 8, 1000, 5));
  EXPECT_EQ(activity.Describe({.events = 300}, begin + milliseconds(100)),
            "3 k events/s  ended: all-reduce over TP, 8 ranks, 0.001 MB: "
            "0.005 ms");
}

}  // namespace
}  // namespace astra
