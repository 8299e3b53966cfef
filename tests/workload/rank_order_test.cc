#include "workload/rank_order.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

TEST(RankOrderTest, ReadsWhatItWrites) {
  EXPECT_EQ(Name(RankOrder()), "tp-cp-ep-dp-pp");
  for (const char* text :
       {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp", "dp-pp-ep-tp-cp"}) {
    EXPECT_EQ(Name(ValueOrDie(ParseRankOrder(text))), text);
  }
}

TEST(RankOrderTest, RefusesWhatDoesNotNameEachAxisOnce) {
  for (const std::string text :
       {"", "tp", "tp-cp-ep-dp", "tp-cp-ep-dp-dp", "tp-cp-ep-dp-pp-",
        "tp-cp-ep-dp-pp-tp", "tp-cp-ep-dp-xp", "-tp-cp-ep-dp-pp"}) {
    EXPECT_THAT(
        ParseRankOrder(text),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 "order \"" + text +
                     "\": expected each of tp, cp, ep, dp and pp once, such as "
                     "tp-cp-ep-dp-pp"));
  }
}

// TP 2, CP 3, EP 1, DP 5, PP 7.
TEST(RankOrderTest, AStrideIsTheProductOfTheSizesBefore) {
  const AxisSizes sizes = {2, 3, 1, 5, 7};
  const RankOrder order = ValueOrDie(ParseRankOrder("tp-cp-ep-pp-dp"));
  EXPECT_EQ(StrideOf(order, sizes, RankAxis::kTensor), 1);
  EXPECT_EQ(StrideOf(order, sizes, RankAxis::kContext), 2);
  EXPECT_EQ(StrideOf(order, sizes, RankAxis::kPipeline), 6);
  EXPECT_EQ(StrideOf(order, sizes, RankAxis::kData), 42);
  EXPECT_EQ(StrideOf(RankOrder(), sizes, RankAxis::kPipeline), 30);
}

}  // namespace
}  // namespace astra
