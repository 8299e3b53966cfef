#include "network-frontends/packet/packet_window.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "astra-core/base/random.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

TEST(PacketRingTest, WhatWasNeverSetIsNone) {
  PacketRing<uint8_t> ring;
  EXPECT_EQ(ring.Get(0), 0);
  EXPECT_EQ(ring.Get(1'000'000), 0);
  ring.Set(3, 7);
  EXPECT_EQ(ring.Get(2), 0);
  EXPECT_EQ(ring.Get(3), 7);
  EXPECT_EQ(ring.Get(3 + 64), 0);  // The same place of a ring of 64.
}

TEST(PacketRingTest, WhatWasForgottenIsNoneAndItsPlaceIsFree) {
  PacketRing<uint8_t> ring;
  ring.Set(0, 7);
  ring.PopFront();
  EXPECT_EQ(ring.begin(), 1u);
  EXPECT_EQ(ring.Get(0), 0);
  EXPECT_EQ(ring.Get(64), 0);
}

TEST(PacketRingTest, IsAMapFromItsBeginOn) {
  PacketRing<uint8_t> ring;
  std::map<uint32_t, uint8_t> expected;
  for (uint64_t i = 0; i < 20'000; ++i) {
    const uint64_t draw = Mix64(i);
    if (draw % 4 == 0) {
      expected.erase(ring.begin());
      ring.PopFront();
    } else {
      const auto packet =
          ring.begin() + static_cast<uint32_t>(draw / 4 % (i % 500 + 1));
      ring.Set(packet, static_cast<uint8_t>(draw >> 56));
      expected[packet] = static_cast<uint8_t>(draw >> 56);
    }
    const auto asked = ring.begin() + static_cast<uint32_t>(Mix64(draw) % 1000);
    const auto found = expected.find(asked);
    ASSERT_EQ(ring.Get(asked), found == expected.end() ? 0 : found->second);
  }
}

TEST(ReceiveWindowTest, FirstMissingPassesAllThatAreThere) {
  ReceiveWindow window;
  EXPECT_EQ(window.Insert(2, 0), 0u);
  EXPECT_TRUE(window.Has(2));
  EXPECT_FALSE(window.Has(1));
  EXPECT_EQ(window.Insert(0, 0), 1u);
  EXPECT_EQ(window.Insert(0, 1), 1u);  // Again.
  EXPECT_EQ(window.Insert(1, 1), 3u);
  EXPECT_EQ(window.Insert(3, 3), 4u);
}

TEST(ReceiveWindowTest, IsTheFirstGapOfASet) {
  ReceiveWindow window;
  std::set<uint32_t> there;
  uint32_t expected = 0;
  uint32_t first_missing = 0;
  for (uint64_t i = 0; i < 20'000; ++i) {
    const uint64_t draw = Mix64(i);
    const auto behind = std::min<uint32_t>(expected, 10);
    const auto packet =
        expected - behind + static_cast<uint32_t>(draw % (behind + 40));
    there.insert(packet);
    while (there.contains(first_missing)) ++first_missing;
    expected = window.Insert(packet, expected);
    ASSERT_EQ(expected, first_missing) << "after " << i;
  }
}

TEST(SendWindowTest, TheFirstOfTheLostThatStillAreIsNext) {
  using State = SendWindow::State;
  SendWindow window;
  uint32_t packet = 77;
  EXPECT_FALSE(window.PeekLost(&packet));
  EXPECT_EQ(packet, 77u);  // As it was.
  for (uint32_t i = 0; i < 5; ++i) window.Set(i, State::kFlying);
  window.Lose(3);
  window.Lose(1);
  window.Lose(4);
  window.Set(3, State::kArrived);  // Late, but not lost.
  ASSERT_TRUE(window.PeekLost(&packet));
  EXPECT_EQ(packet, 1u);
  window.Set(1, State::kFlying);  // Sent again, and lost again.
  window.Lose(1);
  ASSERT_TRUE(window.PeekLost(&packet));
  EXPECT_EQ(packet, 1u);
  window.PopFront();  // 0 is acknowledged, 1 too.
  window.PopFront();
  ASSERT_TRUE(window.PeekLost(&packet));
  EXPECT_EQ(packet, 4u);
  window.Set(4, State::kFlying);
  EXPECT_FALSE(window.PeekLost(&packet));
}

}  // namespace
}  // namespace astra
