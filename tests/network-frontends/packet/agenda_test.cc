#include "network-frontends/packet/agenda.h"

#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

#include "astra-core/base/random.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::ElementsAre;

// From header: buckets of 2048 ps, and a wheel of 8192 of them.
constexpr int64_t kBucketPs = 2048;
constexpr int64_t kWheelPs = kBucketPs * 8192;

std::vector<int64_t> PopAll(Agenda& agenda) {
  std::vector<int64_t> times;
  while (!agenda.empty()) {
    times.push_back(agenda.next().time_ps);
    agenda.Pop();
  }
  return times;
}

TEST(AgendaTest, EntriesOfOneInstantComeByKey) {
  Agenda agenda;
  for (const uint32_t key : {7U, 3U, 9U, 3U}) agenda.Push(1000, key);
  std::vector<uint32_t> keys;
  while (!agenda.empty()) {
    keys.push_back(agenda.next().key);
    agenda.Pop();
  }
  EXPECT_THAT(keys, ElementsAre(3, 3, 7, 9));
}

TEST(AgendaTest, WhatComesIntoTheOpenBucketIsSortedIn) {
  Agenda agenda;
  agenda.Push(10, 1);
  agenda.Push(200, 1);
  EXPECT_EQ(agenda.next().time_ps, 10);
  agenda.Pop();
  agenda.Push(100, 1);
  agenda.Push(10, 2);  // Now, again.
  agenda.Push(250, 1);
  EXPECT_THAT(PopAll(agenda), ElementsAre(10, 100, 200, 250));
}

// To look at the next entry may open its bucket, but nothing is over by that.
TEST(AgendaTest, WhatComesBeforeTheEntryThatWasLookedAtIsNext) {
  for (const int64_t far : {3 * kBucketPs, kWheelPs / 2, 3 * kWheelPs}) {
    Agenda agenda;
    agenda.Push(far, 1);
    EXPECT_EQ(agenda.next().time_ps, far);
    agenda.Push(5 * kBucketPs / 2, 1);
    agenda.Push(far + kWheelPs - 1, 1);
    agenda.Push(1, 1);
    EXPECT_THAT(PopAll(agenda),
                ElementsAre(1, 5 * kBucketPs / 2, far, far + kWheelPs - 1));
  }
}

TEST(AgendaTest, WhatIsDueAtTheEarliestIsToldWithoutOpeningABucket) {
  for (const int64_t far : {3 * kBucketPs + 7, kWheelPs / 2, 3 * kWheelPs}) {
    Agenda agenda;
    agenda.Push(far, 1);
    EXPECT_LE(agenda.NotBefore(), far);
    EXPECT_GT(agenda.NotBefore(), far - kBucketPs);
    EXPECT_EQ(agenda.num_opened(), 0u);
    EXPECT_EQ(agenda.next().time_ps, far);
    EXPECT_EQ(agenda.NotBefore(), far);
  }
}

TEST(AgendaTest, FarEntriesComeBetweenNearOnes) {
  Agenda agenda;
  agenda.Push(kWheelPs + 300, 1);  // Far, as seen from 0.
  agenda.Push(kWheelPs - 1, 1);
  EXPECT_EQ(agenda.next().time_ps, kWheelPs - 1);
  agenda.Pop();
  agenda.Push(kWheelPs + 299, 1);  // Near now, in the same bucket.
  agenda.Push(kWheelPs + 301, 1);
  EXPECT_THAT(PopAll(agenda),
              ElementsAre(kWheelPs + 299, kWheelPs + 300, kWheelPs + 301));
}

TEST(AgendaTest, TheWheelTurnsAnyNumberOfTimes) {
  Agenda agenda;
  const int64_t step = kWheelPs - kBucketPs;
  int64_t time = 0;
  for (int i = 0; i < 1000; ++i) {
    agenda.Push(time + step, 1);
    time += step;
    ASSERT_EQ(agenda.next().time_ps, time);
    agenda.Pop();
    ASSERT_TRUE(agenda.empty());
  }
}

// The same as a sorted multiset, whatever the distances: of the same instant,
// the same bucket, the wheel, and far beyond.
TEST(AgendaTest, IsASortedMultiset) {
  constexpr int64_t kDistances[] = {1,        kBucketPs,    20'000,
                                    kWheelPs, 3 * kWheelPs, 1'000'000'000};
  Agenda agenda;
  std::multiset<Agenda::Entry> expected;
  uint64_t draw = 0;
  int64_t now = 0;
  for (uint64_t i = 0; i < 200'000; ++i) {
    draw = Mix64(draw + i);
    // It fills and runs empty in turns.
    const bool fills = i / 5000 % 2 == 0;
    if (expected.empty() || draw % 8 < (fills ? 5 : 3)) {
      const auto most =
          static_cast<uint64_t>(kDistances[draw / 8 % std::size(kDistances)]);
      const int64_t time = now + static_cast<int64_t>(Mix64(draw) % most);
      const auto key = static_cast<uint32_t>(draw >> 60);
      agenda.Push(time, key);
      expected.insert({time, key});
    } else {
      now = expected.begin()->time_ps;
      agenda.Pop();
      expected.erase(expected.begin());
    }
    ASSERT_EQ(agenda.size(), expected.size());
    // To look at it opens its bucket; the next entry may be before that.
    if (!expected.empty()) {
      ASSERT_EQ(agenda.next(), *expected.begin()) << "after " << i;
    }
  }
}

}  // namespace
}  // namespace astra
