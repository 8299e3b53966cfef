// Algorithms whose messages are few enough to be written out.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "collectives/algorithms/bit_order.h"
#include "collectives/algorithms/torus.h"
#include "tests/collectives/algorithms/flows.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::Dependents;
using ::astra::testing::LowerBy;
using ::astra::testing::Request;
using ::astra::testing::Texts;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using enum CollectiveKind;

uint32_t NumSteps(std::string_view algorithm,
                  const CollectiveRequest& request) {
  const auto found =
      ValueOrDie(FindCollectiveAlgorithm(request.kind(), algorithm));
  uint32_t num_steps = 0;
  for (const ScheduleStep& step : ValueOrDie(found.steps(request)).steps) {
    num_steps += static_cast<uint32_t>(step.repeat);
  }
  return num_steps;
}

TEST(ChainTest, BeginsOrEndsAtTheRoot) {
  const auto by_root = [](CollectiveKind kind) {
    return ValueOrDie(
        Request(kind, 10, GroupLayout::Even(1, 4)).WithRoot(GroupRank(2)));
  };
  EXPECT_THAT(Texts(*LowerBy("ring", by_root(kBroadcast))),
              ElementsAre("2>3 0:10B", "3>0 0:10B", "0>1 0:10B"));
  EXPECT_THAT(Texts(*LowerBy("ring", by_root(kReduce))),
              ElementsAre("3>0 0:10B+", "0>1 0:10B+", "1>2 0:10B+"));
}

// Two channels on two servers of two, each in one tree; servers' ranks 0, 1 and
// 2, 3.
TEST(TreeTest, SumsGoUpAndTheResultComesDown) {
  const auto graph = LowerBy(
      "tree",
      Request(kAllReduce, 10, GroupLayout::Even(2, 2), {.num_channels = 2}));
  EXPECT_THAT(
      Texts(*graph),
      ElementsAre("3>2 0:5B+", "2>0 0:5B+", "1>0 0:5B+",  // To the root 0.
                  "0>1 0:5B", "0>2 0:5B", "2>3 0:5B",     //
                  "1>0 1:5B+", "0>2 1:5B+", "3>2 1:5B+",  // To the root 2.
                  "2>3 1:5B", "2>0 1:5B", "0>1 1:5B"));
  EXPECT_THAT(Dependents(*graph, 1), ElementsAre(3, 4));
}

TEST(TreeTest, HasTwoChannelsForEachRankOfAServer) {
  const auto num_chunks = [](const GroupLayout& layout) {
    return LowerBy("tree", Request(kAllReduce, 1000, layout))->num_chunks();
  };
  EXPECT_EQ(num_chunks(GroupLayout::Even(4, 8)), 16u);
  EXPECT_EQ(num_chunks(GroupLayout::Even(1, 8)), 1u);
}

// Up and down 3 ranks of a server and the 4 levels below the root of 16.
TEST(TreeTest, HasLogarithmicallyManySteps) {
  EXPECT_EQ(NumSteps("tree", Request(kAllReduce, 1, GroupLayout::Even(16, 4))),
            2u * (3 + 4));
}

// 65,536 ranks on 16 channels: 2 x 10^6 flows for each of 16 x 2 pieces.
TEST(TreeTest, AVeryLargeGroupIsStoredOnce) {
  const auto graph = LowerBy(
      "tree", Request(kAllReduce, int64_t{1} << 30, GroupLayout::Even(8192, 8),
                      {.max_chunk = Bytes(1 << 18)}));
  EXPECT_EQ(graph->num_flows(), uint64_t{2} * 65535 * 16 * 256);
}

// Members 0 and 1 are ranks, 2 the NVSwitch.
TEST(NvlsTest, EachRankIsTheHeadOfItsPart) {
  EXPECT_THAT(Texts(*LowerBy(
                  "nvls", Request(kAllReduce, 3, GroupLayout::Even(1, 2, 1)))),
              ElementsAre("0>2 0:2B+", "1>2 0:2B+", "2>0 0:2B",  //
                          "0>2 0:2B", "2>0 0:2B", "2>1 0:2B",    //
                          "0>2 1:1B+", "1>2 1:1B+", "2>1 1:1B",  //
                          "1>2 1:1B", "2>0 1:1B", "2>1 1:1B"));
}

TEST(NvlsTest, ChannelsTakeTurnsOfNvSwitches) {
  const auto graph = LowerBy(
      "nvls",
      Request(kAllGather, 8, GroupLayout::Even(1, 2, 2), {.num_channels = 3}));
  EXPECT_EQ(graph->num_flows_of(GroupRank(2)), 12u);  // Channels 0 and 2.
  EXPECT_EQ(graph->num_flows_of(GroupRank(3)), 6u);
}

TEST(SimaiTest, NvlsSendsFourChunksOneAfterTheOther) {
  const auto graph = LowerBy(
      "simai_nvls", Request(kAllReduce, 40, GroupLayout::Even(1, 8, 1)));
  ASSERT_EQ(graph->num_flows(), 4u * 16);
  EXPECT_EQ(graph->flow(FlowId(16)).bytes, Bytes(10));
  EXPECT_EQ(graph->num_dependencies(FlowId(8)), 8u);
  EXPECT_EQ(Dependents(*graph, 0).back(), 16u);
  EXPECT_THAT(Dependents(*graph, 8), IsEmpty());
}

// Two servers of 4 on 4 rings: ring 1 is 1 2 3 0 5 6 7 4.
TEST(SimaiTest, RingsChangeTheRailBetweenServers) {
  const auto graph =
      LowerBy("simai_ring", Request(kAllGather, 3200, GroupLayout::Even(2, 4)));
  const Flow crossing = graph->flow(FlowId(8 + 3));
  EXPECT_EQ(crossing.source, GroupRank(0));
  EXPECT_EQ(crossing.target, GroupRank(5));
  EXPECT_EQ(crossing.bytes, Bytes(100));
}

// Parts in the order 0 2 1 3: far with one part first, near with two in a row.
TEST(PatTest, AllGatherOfFourSendsFarFirst) {
  EXPECT_THAT(
      Texts(*LowerBy("pat", Request(kAllGather, 40, GroupLayout::Even(4, 1)))),
      ElementsAre("0>2 0:10B", "1>3 2:10B", "2>0 1:10B", "3>1 3:10B",
                  "0>1 0-1:20B", "1>2 2-3:20B", "2>3 0-1:20B", "3>0 2-3:20B"));
}

TEST(PatTest, HasLogarithmicallyManySteps) {
  for (const auto& [n, steps] : {std::pair{2u, 1u}, {8u, 3u}, {64u, 6u}}) {
    const auto layout = GroupLayout::Even(n, 1);
    EXPECT_EQ(NumSteps("pat", Request(kAllGather, 1, layout)), steps);
    EXPECT_EQ(NumSteps("pat", Request(kReduceScatter, 1, layout)), steps);
  }
}

TEST(HalvingDoublingTest, ReduceScatterOfThreeFoldsThePair) {
  EXPECT_THAT(
      Texts(*LowerBy("halving_doubling",
                     Request(kReduceScatter, 30, GroupLayout::Even(1, 3)))),
      ElementsAre("0>1 0-2:30B+", "1>2 2:10B+", "2>1 0-1:20B+", "1>0 0:10B"));
}

TEST(BitOrderTest, NumbersThatAgreeInTheLowestBitsAreInARow) {
  EXPECT_THAT(BitOrder(8), ElementsAre(0, 4, 2, 6, 1, 5, 3, 7));
  EXPECT_THAT(BitOrder(5), ElementsAre(0, 4, 2, 1, 3));
}

TEST(TorusTest, DimensionsAreAsEvenAsCanBe) {
  EXPECT_THAT(TorusSizes(16, 2), ElementsAre(4, 4));
  EXPECT_THAT(TorusSizes(24, 2), ElementsAre(6, 4));
  EXPECT_THAT(TorusSizes(64, 3), ElementsAre(4, 4, 4));
  EXPECT_THAT(TorusSizes(30, 3), ElementsAre(5, 3, 2));
  EXPECT_THAT(TorusSizes(13, 2), IsEmpty());
}

TEST(TorusTest, TakesTheStepsOfItsRings) {
  const auto request = Request(kAllReduce, 1, GroupLayout::Even(1, 64));
  EXPECT_EQ(NumSteps("torus_2d", request), 2u * (7 + 7));
  EXPECT_EQ(NumSteps("torus_3d", request), 2u * (3 + 3 + 3));
}

// Two servers of two. What 0 and 1 have for 3 leaves through 1, on 3's rail.
TEST(PxnTest, MessagesToATargetLeaveTogetherOnItsRail) {
  const auto texts =
      Texts(*LowerBy("pxn", Request(kAllToAll, 40, GroupLayout::Even(2, 2))));
  EXPECT_THAT(std::vector(texts.begin(), texts.begin() + 2),
              ElementsAre("0>1 2:10B", "2>3 14:10B"));
  EXPECT_THAT(
      std::vector(texts.begin() + 2, texts.begin() + 10),
      ElementsAre("1>0 5:10B", "0>2 4-5:20B", "0>1 6:10B", "1>3 6-7:20B",
                  "3>2 9:10B", "2>0 8-9:20B", "2>3 10:10B", "3>1 10-11:20B"));
}

TEST(AllToAllTest, DispatchAndCombineSendTheSameMessages) {
  for (const std::string_view algorithm : {"direct", "pxn", "simai_direct"}) {
    for (const GroupLayout& layout :
         {GroupLayout::Even(1, 8), GroupLayout::Even(3, 4),
          GroupLayout::Uneven({1, 4, 2})}) {
      const auto request = [&](CollectiveKind kind) {
        return Request(kind, 10'007, layout, {.num_channels = 2});
      };
      const auto texts = Texts(*LowerBy(algorithm, request(kAllToAll)));
      const uint32_t num_steps = NumSteps(algorithm, request(kAllToAll));
      for (const CollectiveKind kind : {kDispatch, kCombine}) {
        EXPECT_EQ(Texts(*LowerBy(algorithm, request(kind))), texts);
        EXPECT_EQ(NumSteps(algorithm, request(kind)), num_steps);
      }
    }
  }
}

// Only rank 0's server has one rank: it sends straight to both of the other.
TEST(PxnTest, WithoutARankOnTheRailASenderSendsItself) {
  const auto texts = Texts(
      *LowerBy("pxn", Request(kAllToAll, 30, GroupLayout::Uneven({1, 2}))));
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "0>1 1:10B"), 1);
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "0>2 2:10B"), 1);
}

}  // namespace
}  // namespace astra
