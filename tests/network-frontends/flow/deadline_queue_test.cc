#include "network-frontends/flow/deadline_queue.h"

#include <cstdint>
#include <set>
#include <vector>

#include "astra-core/base/random.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

TEST(DeadlineQueueTest, TheLowestIndexOfEqualsIsNext) {
  DeadlineQueue queue;
  queue.Set(5, TimePs(10));
  queue.Set(3, TimePs(10));
  EXPECT_EQ(queue.next().index, 3u);
  queue.Set(3, TimePs(11));
  EXPECT_EQ(queue.next().index, 5u);
  queue.Remove(5);
  queue.Remove(7);  // Which has none.
  EXPECT_EQ(queue.next().time, TimePs(11));
  queue.Remove(3);
  EXPECT_TRUE(queue.empty());
}

TEST(DeadlineQueueTest, IsASortedSetOfWhatWasSetLast) {
  DeadlineQueue queue;
  std::set<DeadlineQueue::Deadline> expected;
  std::vector<TimePs> time_of(50, TimePs(-1));
  for (uint64_t step = 0; step < 5000; ++step) {
    const auto index = static_cast<uint32_t>(HashOf(1, step) % 50);
    expected.erase({time_of[index], index});
    if (HashOf(2, step) % 3 == 0) {
      queue.Remove(index);
    } else {
      time_of[index] = TimePs(static_cast<int64_t>(HashOf(3, step) % 100));
      queue.Set(index, time_of[index]);
      expected.insert({time_of[index], index});
    }
    ASSERT_EQ(queue.empty(), expected.empty());
    if (queue.empty()) continue;
    ASSERT_EQ(queue.next(), *expected.begin());
  }
}

}  // namespace
}  // namespace astra
