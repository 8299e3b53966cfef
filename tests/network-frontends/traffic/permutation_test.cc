#include <algorithm>
#include <set>
#include <vector>

#include "network-frontends/traffic/patterns.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

std::vector<uint32_t> TargetsOf(const PatternShape& shape) {
  std::vector<uint32_t> targets;
  for (const PatternSender& sender : ValueOrDie(PermutationSenders(shape))) {
    EXPECT_EQ(sender.rank.index(), targets.size());
    EXPECT_EQ(sender.targets.size(), 1u);
    targets.push_back(sender.targets[0].index());
  }
  return targets;
}

TEST(PermutationTest, AShiftGoesRoundTheCluster) {
  EXPECT_THAT(TargetsOf({.num_ranks = 4, .shift = 3}), ElementsAre(3, 0, 1, 2));
}

TEST(PermutationTest, ADrawnOneIsOneCycleOverAllRanks) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<uint32_t> targets =
        TargetsOf({.num_ranks = 13, .seed = seed});
    std::set<uint32_t> visited;
    for (uint32_t at = 0; visited.insert(at).second;) at = targets[at];
    EXPECT_EQ(visited.size(), 13u) << seed;
  }
}

// Of three ranks there are two cycles. Each should come half of the time; the
// standard deviation over 1000 draws is 16.
TEST(PermutationTest, DrawsEveryCycleAlikeOften) {
  int forward = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    if (TargetsOf({.num_ranks = 3, .seed = seed})[0] == 1) ++forward;
  }
  EXPECT_NEAR(forward, 500, 80);
}

TEST(PermutationTest, RefusesAShiftThatIsNoRank) {
  EXPECT_THAT(PermutationSenders({.num_ranks = 4, .shift = 4}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "shift is 4, but 4 ranks have shifts from 1 to 3"));
}

}  // namespace
}  // namespace astra
