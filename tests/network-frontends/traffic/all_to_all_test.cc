#include <set>
#include <vector>

#include "network-frontends/traffic/patterns.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

TEST(AllToAllTest, TheMessagesOfOneNumberHaveDifferentReceivers) {
  const auto senders = ValueOrDie(AllToAllSenders({.num_ranks = 5}));
  ASSERT_EQ(senders.size(), 5u);
  EXPECT_THAT(senders[3].targets,
              ElementsAre(RankId(4), RankId(0), RankId(1), RankId(2)));
  for (size_t number = 0; number < 4; ++number) {
    std::set<RankId> receivers;
    for (const PatternSender& sender : senders) {
      receivers.insert(sender.targets[number]);
    }
    EXPECT_EQ(receivers.size(), 5u);
  }
}

TEST(AllToAllTest, RefusesMorePairsThanMessages) {
  EXPECT_THAT(AllToAllSenders({.num_ranks = 4096}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "4096 ranks are 16773120 pairs, more than the limit of "
                       "10000000"));
}

}  // namespace
}  // namespace astra
