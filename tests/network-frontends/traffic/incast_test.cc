#include <vector>

#include "network-frontends/traffic/patterns.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

std::vector<uint32_t> RanksOf(const std::vector<PatternSender>& senders) {
  std::vector<uint32_t> ranks;
  for (const PatternSender& sender : senders) {
    ranks.push_back(sender.rank.index());
  }
  return ranks;
}

TEST(IncastTest, AllOthersSendToTheTarget) {
  const auto senders =
      ValueOrDie(IncastSenders({.num_ranks = 4, .target = RankId(2)}));
  EXPECT_THAT(RanksOf(senders), ElementsAre(0, 1, 3));
  for (const PatternSender& sender : senders) {
    EXPECT_THAT(sender.targets, ElementsAre(RankId(2)));
  }
}

// One GPU of each other server of four: 9, 13 and, round the cluster, 1.
TEST(IncastTest, AStrideTakesOneRankOfEachServer) {
  EXPECT_THAT(RanksOf(ValueOrDie(IncastSenders(
                  {.num_ranks = 16, .target = RankId(5), .stride = 4}))),
              ElementsAre(1, 9, 13));
  EXPECT_THAT(
      RanksOf(ValueOrDie(IncastSenders(
          {.num_ranks = 16, .target = RankId(5), .senders = 2, .stride = 4}))),
      ElementsAre(9, 13));
}

TEST(IncastTest, RefusesMoreSendersThanThereAre) {
  EXPECT_THAT(
      IncastSenders({.num_ranks = 16, .senders = 4, .stride = 4}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "senders is 4, but of 16 ranks 3 are at a distance of 4 from "
               "one another and from the target"));
  EXPECT_THAT(IncastSenders({.num_ranks = 8, .target = RankId(8)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "target is 8, but the ranks are 0 to 7"));
}

}  // namespace
}  // namespace astra
