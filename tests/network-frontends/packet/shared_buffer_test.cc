#include "network-frontends/packet/shared_buffer.h"

#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "astra-core/base/random.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

// 10 kB to share, half of what is free of it for each link; 1 kB of reserve and
// 3 kB of headroom for each besides.
SharedBuffer Lossless() {
  SharedBuffer buffer;
  buffer.shared_bytes = 10'000;
  buffer.reserve_bytes = 1000;
  buffer.resume_offset_bytes = 500;
  buffer.share = 0.5;
  buffer.is_lossless = true;
  return buffer;
}
IngressBuffer Link() { return {.headroom_bytes = 3000}; }

TEST(SharedBufferTest, TheThresholdIsAShareOfWhatIsFree) {
  SharedBuffer buffer = Lossless();
  IngressBuffer link = Link();
  EXPECT_EQ(buffer.ThresholdBytes(), 5000);
  buffer.Add(link, 1000);  // In the reserve: takes none of the shared.
  EXPECT_EQ(buffer.ThresholdBytes(), 5000);
  EXPECT_EQ(buffer.shared_used_bytes, 0);
  buffer.Add(link, 2000);
  EXPECT_EQ(buffer.SharedBy(link), 2000);
  EXPECT_EQ(buffer.shared_used_bytes, 2000);
  EXPECT_EQ(buffer.ThresholdBytes(), 4000);
  EXPECT_EQ(buffer.used_bytes, 3000);
}

// x of the shared memory is too much once x >= (10 kB - x)/2, at 3333 B.
TEST(SharedBufferTest, ALinkThatHoldsItsShareIsToBePaused) {
  SharedBuffer buffer = Lossless();
  IngressBuffer link = Link();
  for (int i = 0; i < 8; ++i) {
    buffer.Add(link, 500);
    EXPECT_FALSE(buffer.ShouldPause(link)) << i;
  }
  buffer.Add(link, 333);
  EXPECT_EQ(buffer.SharedBy(link), 3333);
  EXPECT_TRUE(buffer.ShouldPause(link));
  link.has_paused = true;
  EXPECT_FALSE(buffer.ShouldPause(link));
}

// The reserve and the headroom of the link would hold 4 kB.
TEST(SharedBufferTest, NothingFitsBeyondTheWholeBuffer) {
  SharedBuffer buffer = Lossless();
  buffer.shared_bytes = 0;
  buffer.buffer_bytes = 2500;
  IngressBuffer link = Link();
  ASSERT_TRUE(buffer.HasRoom(link, 0, 1000));
  buffer.Add(link, 1000);
  ASSERT_TRUE(buffer.HasRoom(link, 0, 1500));
  buffer.Add(link, 1500);
  EXPECT_FALSE(buffer.HasRoom(link, 0, 1));
  buffer.Remove(link, 1);
  EXPECT_TRUE(buffer.HasRoom(link, 0, 1));
}

TEST(SharedBufferTest, BeyondTheThresholdPacketsTakeTheHeadroomOfTheirLink) {
  SharedBuffer buffer = Lossless();
  IngressBuffer link = Link();
  buffer.Add(link, 1000);
  for (int i = 0; i < 6; ++i) buffer.Add(link, 500);
  // With 900 more it would hold 3900 of the shared, above 7000/2.
  EXPECT_EQ(link.headroom_used_bytes, 0);
  buffer.Add(link, 900);
  EXPECT_EQ(link.headroom_used_bytes, 900);
  EXPECT_EQ(link.held_bytes, 4000);
  EXPECT_TRUE(buffer.ShouldPause(link));
  buffer.Add(link, 2000);
  EXPECT_EQ(link.headroom_used_bytes, 2900);
  EXPECT_TRUE(buffer.HasRoom(link, 0, 500));  // 3500 of the shared.
  EXPECT_FALSE(buffer.HasRoom(link, 0, 501));
  // Other links have headroom of their own.
  EXPECT_TRUE(buffer.HasRoom(Link(), 0, 3000));
}

TEST(SharedBufferTest, ALinkGoesOnOnceItIsBelowTheThresholdByTheOffset) {
  SharedBuffer buffer = Lossless();
  IngressBuffer link = Link();
  for (int i = 0; i < 11; ++i) buffer.Add(link, 500);
  EXPECT_EQ(link.held_bytes, 4500);  // And 1000 in the headroom.
  EXPECT_TRUE(buffer.ShouldPause(link));
  link.has_paused = true;
  while (!buffer.ShouldResume(link)) buffer.Remove(link, 500);
  // Headroom goes first. Of the shared s: s + 500 <= (10'000 - s)/2, so s is at
  // most 3000, which is what is held without the reserve.
  EXPECT_EQ(link.headroom_used_bytes, 0);
  EXPECT_EQ(buffer.SharedBy(link), 3000);
}

TEST(SharedBufferTest, ALinkThatHoldsNothingOfTheSharedGoesOn) {
  SharedBuffer buffer = Lossless();
  buffer.share = 0.0001;  // A threshold of 1 B, below the offset.
  IngressBuffer link = Link();
  buffer.Add(link, 1000);
  EXPECT_FALSE(buffer.ShouldPause(link));
  buffer.Add(link, 1000);
  EXPECT_TRUE(buffer.ShouldPause(link));
  link.has_paused = true;
  EXPECT_FALSE(buffer.ShouldResume(link));
  buffer.Remove(link, 1000);
  EXPECT_TRUE(buffer.ShouldResume(link));
}

TEST(SharedBufferTest, ALossyPortDropsBeyondItsShare) {
  SharedBuffer buffer = Lossless();
  buffer.is_lossless = false;
  buffer.reserve_bytes = 0;
  IngressBuffer link;
  EXPECT_TRUE(buffer.HasRoom(link, 4000, 1000));
  EXPECT_FALSE(buffer.HasRoom(link, 4001, 1000));
  buffer.Add(link, 4000);
  EXPECT_EQ(buffer.ThresholdBytes(), 3000);
  EXPECT_TRUE(buffer.HasRoom(link, 2000, 1000));
  EXPECT_FALSE(buffer.HasRoom(link, 2001, 1000));
  EXPECT_FALSE(buffer.ShouldPause(link));
  buffer.share = 100;  // No more than there is, whatever the share.
  EXPECT_TRUE(buffer.HasRoom(link, 0, 6000));
  EXPECT_FALSE(buffer.HasRoom(link, 0, 6001));
}

// Packets that come and go as they please, held first in, first out. What
// IsEasy lets in finds room and pauses nobody.
class RandomBufferTest : public ::testing::TestWithParam<bool> {};

TEST_P(RandomBufferTest, HoldsNoMoreThanThereIsAndNothingInTheEnd) {
  constexpr size_t kLinks = 4;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SharedBuffer buffer = Lossless();
    buffer.is_lossless = GetParam();
    constexpr double kShares[] = {0.01, 0.13, 0.5, 1, 8};
    buffer.share = kShares[seed % std::size(kShares)];
    if (!GetParam() || seed % 2 == 0) buffer.reserve_bytes = 0;
    const int64_t size = buffer.shared_bytes + (GetParam() ? 16'000 : 0);
    std::vector<IngressBuffer> links(kLinks, Link());
    std::deque<std::pair<size_t, int64_t>> held;
    int64_t queued = 0;
    const auto remove = [&] {
      const auto [link, bytes] = held.front();
      held.pop_front();
      queued -= bytes;
      buffer.Remove(links[link], bytes);
      if (buffer.ShouldResume(links[link])) links[link].has_paused = false;
    };
    for (uint64_t i = 0; i < 2000; ++i) {
      const uint64_t draw = HashOf(seed, i);
      const size_t link = draw % kLinks;
      const auto bytes = static_cast<int64_t>(draw / 8 % 1500 + 1);
      const bool is_easy = buffer.IsEasy(links[link], queued, bytes);
      const bool has_room = buffer.HasRoom(links[link], queued, bytes);
      ASSERT_LE(is_easy, has_room) << "seed " << seed << ", packet " << i;
      if (has_room && draw >> 63 == 0) {
        buffer.Add(links[link], bytes);
        held.emplace_back(link, bytes);
        queued += bytes;
        const bool pauses = buffer.ShouldPause(links[link]);
        ASSERT_FALSE(is_easy && pauses) << "seed " << seed << ", packet " << i;
        if (pauses) links[link].has_paused = true;
      } else if (!held.empty()) {
        remove();
      }
      ASSERT_LE(buffer.used_bytes, size);
      ASSERT_LE(buffer.shared_used_bytes, buffer.shared_bytes);
      ASSERT_GE(buffer.shared_used_bytes, 0);
      ASSERT_EQ(buffer.used_bytes, queued);
    }
    EXPECT_LE(buffer.max_used_bytes, size);
    while (!held.empty()) remove();
    EXPECT_EQ(buffer.used_bytes, 0);
    EXPECT_EQ(buffer.shared_used_bytes, 0);
    for (const IngressBuffer& link : links) {
      EXPECT_EQ(link.held_bytes, 0);
      EXPECT_EQ(link.headroom_used_bytes, 0);
      EXPECT_FALSE(link.has_paused);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RandomBufferTest, ::testing::Bool(),
                         [](const auto& test) {
                           return test.param ? "Lossless" : "Lossy";
                         });

}  // namespace
}  // namespace astra
