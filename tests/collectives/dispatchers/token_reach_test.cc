#include "collectives/dispatchers/token_reach.h"

#include <gtest/gtest.h>

namespace astra {
namespace {

// Two of four experts: both are in one half with probability 2/6.
TEST(TokenReachTest, CountsThePartsThatHoldAnExpert) {
  const ExpertRouting routing = {.experts = 4, .top_k = 2};
  EXPECT_NEAR(PartsReached(routing, 1), 1, 1e-12);
  EXPECT_NEAR(PartsReached(routing, 2), 2 - 2. / 6, 1e-12);
  EXPECT_NEAR(PartsReached(routing, 4), 2, 1e-12);
}

// 8 of 256 experts on 8 ranks: 8 (1 - C(224, 8) / C(256, 8)).
TEST(TokenReachTest, DeepSeekReachesFiveOfEightRanks) {
  double avoids = 1;
  for (int i = 0; i < 8; ++i) avoids *= (224. - i) / (256 - i);
  const ExpertRouting routing = {.experts = 256, .top_k = 8};
  EXPECT_NEAR(PartsReached(routing, 8), 8 * (1 - avoids), 1e-9);
}

// A token goes to one of two groups, and to both experts there.
TEST(TokenReachTest, GroupsLimitTheServers) {
  const ExpertRouting routing = {
      .experts = 4, .top_k = 2, .groups = 2, .top_groups = 1};
  EXPECT_NEAR(PartsReached(routing, 1), 1, 1e-12);
  EXPECT_NEAR(PartsReached(routing, 2), 1, 1e-12);
  EXPECT_NEAR(PartsReached(routing, 4), 2, 1e-12);
}

// 4 of 8 groups on 4 servers of 2 groups each. A server has none of the chosen
// groups with probability C(6, 4) / C(8, 4) = 15/70; with one or two of them it
// is avoided if all 8 experts are in the other 3 or 2 groups of 32.
TEST(TokenReachTest, ServersOfSeveralGroupsAreVisitedAsTheGroupsFall) {
  const ExpertRouting routing = {
      .experts = 256, .top_k = 8, .groups = 8, .top_groups = 4};
  const auto avoids = [](int held) {
    double share = 1;
    for (int i = 0; i < 8; ++i) share *= (128. - held - i) / (128 - i);
    return share;
  };
  const double expected =
      4 * (1 - 15. / 70 - 40. / 70 * avoids(32) - 15. / 70 * avoids(64));
  EXPECT_NEAR(PartsReached(routing, 4), expected, 1e-9);
}

// 4 groups of 2 experts on 3 servers, of 4/3 groups each. A server of one group
// is avoided with probability C(6, 2) / C(8, 2) = 15/28, and one of two groups
// with 6/28; the mean takes two thirds of the first and one of the second.
TEST(TokenReachTest, ServersThatDivideNoGroupsAreBetweenThoseThatDo) {
  const ExpertRouting routing = {
      .experts = 8, .top_k = 2, .groups = 4, .top_groups = 4};
  EXPECT_NEAR(PartsReached(routing, 3), 3 * (1 - (15. / 28 * 2 + 6. / 28) / 3),
              1e-12);
}

TEST(TokenReachTest, MorePartsAreReachedTheFinerTheyAre) {
  for (const int64_t top_groups : {1, 2, 4, 8}) {
    const ExpertRouting routing = {
        .experts = 256, .top_k = 8, .groups = 8, .top_groups = top_groups};
    double before = 0;
    for (uint32_t parts = 1; parts <= 256; parts *= 2) {
      const double reached = PartsReached(routing, parts);
      EXPECT_GE(reached, before - 1e-9) << parts;
      EXPECT_LE(reached, 8 + 1e-9) << parts;
      before = reached;
    }
  }
}

}  // namespace
}  // namespace astra
