#include "network-frontends/traffic/traffic_draw.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

absl::StatusOr<Traffic> Draw(std::string_view patterns, uint32_t num_ranks,
                             uint64_t seed = 1) {
  return DrawTraffic(ValueOrDie(ParsePatterns(patterns)), num_ranks, seed);
}

TEST(TrafficDrawTest, EachPairSendsOnceAtTheStart) {
  const Traffic traffic =
      ValueOrDie(Draw("permutation:bytes=3kB,shift=1,start=2us", 3));
  ASSERT_EQ(traffic.messages.size(), 3u);
  for (uint32_t rank = 0; rank < 3; ++rank) {
    const TrafficMessage& message = traffic.messages[rank];
    EXPECT_EQ(message.start, Microseconds(2));
    EXPECT_EQ(message.source, RankId(rank));
    EXPECT_EQ(message.target, RankId((rank + 1) % 3));
    EXPECT_EQ(message.bytes, Bytes(3000));
  }
}

// The starts are uniform over the interval: their mean is its middle, within
// four standard deviations of the mean of 9900 draws.
TEST(TrafficDrawTest, StartsAreSpreadOverTheInterval) {
  const Traffic traffic =
      ValueOrDie(Draw("all-to-all:bytes=1B,start=10us,spread=8us", 100));
  ASSERT_EQ(traffic.messages.size(), 9900u);
  double sum_us = 0;
  for (const TrafficMessage& message : traffic.messages) {
    sum_us += ToMicroseconds(message.start);
  }
  EXPECT_NEAR(sum_us / 9900, 14, 4 * 8 / std::sqrt(12 * 9900.0));
  EXPECT_GE(traffic.messages.front().start, Microseconds(10));
  EXPECT_LT(traffic.messages.back().start, Microseconds(18));
  EXPECT_TRUE(std::is_sorted(
      traffic.messages.begin(), traffic.messages.end(),
      [](const auto& a, const auto& b) { return a.start < b.start; }));
}

// 80 Gbps are 10 messages of 1000 B in a microsecond. 8 senders have 8000 in
// 100 us, with a standard deviation of 89; their gaps are exponential, so the
// standard deviation of the gaps equals their mean.
TEST(TrafficDrawTest, MessagesComeAtTheRateAsAPoissonProcess) {
  const Traffic traffic =
      ValueOrDie(Draw("all-to-all:bytes=1kB,rate=80Gbps,duration=100us", 8));
  const auto number = static_cast<double>(traffic.messages.size());
  EXPECT_NEAR(number, 8000, 4 * 89);
  std::map<RankId, TimePs> last;
  double sum = 0;
  double squares = 0;
  std::map<std::pair<RankId, RankId>, int> of_pair;
  for (const TrafficMessage& message : traffic.messages) {
    const double gap = ToMicroseconds(message.start - last[message.source]);
    last[message.source] = message.start;
    sum += gap;
    squares += gap * gap;
    ++of_pair[{message.source, message.target}];
    EXPECT_NE(message.source, message.target);
  }
  const double mean = sum / number;
  EXPECT_NEAR(mean, 0.1, 0.005);
  EXPECT_NEAR(squares / number, 2 * mean * mean, 0.1 * mean * mean);
  // 8 x 7 pairs have some 143 each, with a standard deviation of 12.
  EXPECT_EQ(of_pair.size(), 56u);
  for (const auto& [_, count] : of_pair) EXPECT_NEAR(count, 143, 60);
}

TEST(TrafficDrawTest, APatternDoesNotChangeTheDrawsOfAnother) {
  const Traffic alone = ValueOrDie(Draw("permutation:bytes=1B", 9));
  const Traffic both =
      ValueOrDie(Draw("permutation:bytes=1B+incast:bytes=9B,senders=2", 9));
  EXPECT_THAT(both.patterns, ElementsAre("permutation", "incast"));
  ASSERT_EQ(both.messages.size(), 11u);
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(both.messages[i].target, alone.messages[i].target);
    EXPECT_EQ(both.messages[i].pattern, 0u);
  }
  EXPECT_EQ(both.messages[10].pattern, 1u);
}

TEST(TrafficDrawTest, TheSecondPatternOfANameHasANumber) {
  EXPECT_THAT(
      ValueOrDie(Draw("incast:bytes=1B+incast:bytes=1B,target=1", 3)).patterns,
      ElementsAre("incast", "incast#2"));
}

TEST(TrafficDrawTest, AnotherSeedDrawsOtherMessages) {
  const auto targets = [](uint64_t seed) {
    std::vector<RankId> all;
    for (const TrafficMessage& message :
         ValueOrDie(Draw("permutation:bytes=1B", 64, seed)).messages) {
      all.push_back(message.target);
    }
    return all;
  };
  EXPECT_EQ(targets(1), targets(1));
  EXPECT_NE(targets(1), targets(2));
}

TEST(TrafficDrawTest, NamesThePatternAtFault) {
  EXPECT_THAT(Draw("all-to-all:bytes=1B+incast:bytes=1B,senders=3", 3),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "incast: senders is 3, but of 3 ranks 2 are at a "
                       "distance of 1 from one another and from the target"));
  EXPECT_THAT(Draw("all-to-all:bytes=1B", 1),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "all-to-all: traffic needs two ranks or more"));
  EXPECT_THAT(Draw("incast:bytes=1MB,rate=1bps,duration=1us", 2),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "incast: no message comes: the rate is too low for the "
                       "duration"));
  EXPECT_THAT(Draw("incast:bytes=1B,rate=1000Gbps,duration=1s", 2),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "incast: more than the limit of 10000000 messages"));
}

}  // namespace
}  // namespace astra
