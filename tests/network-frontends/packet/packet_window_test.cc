#include "network-frontends/packet/packet_window.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "astra-core/base/random.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

constexpr PacketNumber N(uint32_t number) { return PacketNumber(number); }

TEST(PacketRingTest, WhatWasNeverSetIsNone) {
  PacketRing<uint8_t> ring;
  EXPECT_EQ(ring.Get(N(0)), 0);
  EXPECT_EQ(ring.Get(N(1'000'000)), 0);
  ring.Set(N(3), 7);
  EXPECT_EQ(ring.Get(N(2)), 0);
  EXPECT_EQ(ring.Get(N(3)), 7);
  EXPECT_EQ(ring.Get(N(3 + 64)), 0);  // The same place of a ring of 64.
}

TEST(PacketRingTest, WhatWasForgottenIsNoneAndItsPlaceIsFree) {
  PacketRing<uint8_t> ring;
  ring.Set(N(0), 7);
  ring.PopFront();
  EXPECT_EQ(ring.begin(), N(1));
  EXPECT_EQ(ring.Get(N(0)), 0);
  EXPECT_EQ(ring.Get(N(64)), 0);
}

TEST(PacketRingTest, IsAMapFromItsBeginOn) {
  PacketRing<uint8_t> ring;
  std::map<PacketNumber, uint8_t> expected;
  for (uint64_t i = 0; i < 20'000; ++i) {
    const uint64_t draw = Mix64(i);
    if (draw % 4 == 0) {
      expected.erase(ring.begin());
      ring.PopFront();
    } else {
      const PacketNumber packet =
          N(ring.begin().index() +
            static_cast<uint32_t>(draw / 4 % (i % 500 + 1)));
      ring.Set(packet, static_cast<uint8_t>(draw >> 56));
      expected[packet] = static_cast<uint8_t>(draw >> 56);
    }
    const PacketNumber asked =
        N(ring.begin().index() + static_cast<uint32_t>(Mix64(draw) % 1000));
    const auto found = expected.find(asked);
    ASSERT_EQ(ring.Get(asked), found == expected.end() ? 0 : found->second);
  }
}

TEST(ReceiveWindowTest, FirstMissingPassesAllThatAreThere) {
  ReceiveWindow window;
  EXPECT_EQ(window.Insert(N(2), N(0)), N(0));
  EXPECT_EQ(window.Insert(N(0), N(0)), N(1));
  EXPECT_EQ(window.Insert(N(0), N(1)), N(1));  // Again.
  EXPECT_EQ(window.Insert(N(1), N(1)), N(3));
  EXPECT_EQ(window.Insert(N(3), N(3)), N(4));
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
    expected = window.Insert(N(packet), N(expected)).index();
    ASSERT_EQ(expected, first_missing) << "after " << i;
  }
}

TEST(SendWindowTest, TheFirstOfTheLostThatStillAreIsNext) {
  using State = SendWindow::State;
  SendWindow window;
  PacketNumber packet(77);
  EXPECT_FALSE(window.PeekLost(&packet));
  EXPECT_EQ(packet, N(77));  // As it was.
  for (uint32_t i = 0; i < 5; ++i) window.Set(N(i), State::kFlying);
  window.Lose(N(3));
  window.Lose(N(1));
  window.Lose(N(4));
  window.Set(N(3), State::kArrived);  // Late, but not lost.
  ASSERT_TRUE(window.PeekLost(&packet));
  EXPECT_EQ(packet, N(1));
  window.Set(N(1), State::kFlying);  // Sent again, and lost again.
  window.Lose(N(1));
  ASSERT_TRUE(window.PeekLost(&packet));
  EXPECT_EQ(packet, N(1));
  window.PopFront();  // 0 is acknowledged, 1 too.
  window.PopFront();
  ASSERT_TRUE(window.PeekLost(&packet));
  EXPECT_EQ(packet, N(4));
  window.Set(N(4), State::kFlying);
  EXPECT_FALSE(window.PeekLost(&packet));
}

}  // namespace
}  // namespace astra
