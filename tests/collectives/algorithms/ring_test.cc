#include "collectives/algorithms/ring.h"

#include <cstdint>
#include <vector>

#include "tests/collectives/algorithms/flows.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"

namespace astra {
namespace {

using ::astra::testing::Dependents;
using ::astra::testing::Request;
using ::astra::testing::Star;
using ::astra::testing::StatusIs;
using ::astra::testing::Texts;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<uint32_t> Order(const GroupLayout& layout, uint32_t channel) {
  std::vector<uint32_t> order;
  for (const GroupRank rank : RingOrder(layout, channel)) {
    order.push_back(rank.index());
  }
  return order;
}

TEST(RingTest, AllReduceOfThreeRanks) {
  const auto graph = ValueOrDie(LowerRing(
      Request(CollectiveKind::kAllReduce, 7, GroupLayout::Even(1, 3))));

  // 7 bytes make chunks of 3, 2 and 2. Written out by hand from ring.h.
  EXPECT_THAT(Texts(*graph),
              ElementsAre("0>1 2:2B+", "1>2 0:3B+", "2>0 1:2B+",  //
                          "0>1 1:2B+", "1>2 2:2B+", "2>0 0:3B+",  //
                          "0>1 0:3B", "1>2 1:2B", "2>0 2:2B",     //
                          "0>1 2:2B", "1>2 0:3B", "2>0 1:2B"));
}

TEST(RingTest, AFlowWaitsOnlyForItsChunkToArrive) {
  const auto graph = ValueOrDie(LowerRing(
      Request(CollectiveKind::kAllReduce, 3072, GroupLayout::Even(1, 3))));

  EXPECT_EQ(graph->num_dependencies(FlowId(0)), 0u);
  EXPECT_THAT(Dependents(*graph, 0), ElementsAre(4));
  EXPECT_EQ(graph->num_dependencies(FlowId(4)), 1u);
  EXPECT_THAT(Dependents(*graph, 9), IsEmpty());  // The last step.
}

TEST(RingTest, ABufferSmallerThanTheRingLeavesEmptyChunks) {
  const auto graph = ValueOrDie(LowerRing(
      Request(CollectiveKind::kAllGather, 1, GroupLayout::Even(1, 4))));

  EXPECT_EQ(graph->num_flows(), 12u);
  EXPECT_EQ(graph->flow(FlowId(0)).bytes, Bytes(1));  // Chunk 0.
  EXPECT_EQ(graph->flow(FlowId(1)).bytes, Bytes(0));  // Chunk 1.
}

// 12 bytes on 2 ranks are 6 each; chunks of at most 3 make 2 loops, of 2 slices
// of 2 and 1 bytes. Two flows for each slice, 2 slices, 1 step in each loop.
TEST(RingTest, LoopsFollowOneAnotherAndSlicesArePipelined) {
  const auto graph = ValueOrDie(
      LowerRing(Request(CollectiveKind::kAllGather, 12, GroupLayout::Even(1, 2),
                        {.max_chunk = Bytes(3), .slices_per_chunk = 2})));

  EXPECT_THAT(Texts(*graph),
              ElementsAre("0>1 0:2B", "1>0 1:2B", "0>1 2:1B", "1>0 3:1B",  //
                          "0>1 4:2B", "1>0 5:2B", "0>1 6:1B", "1>0 7:1B"));
  // What rank 0 sends in the second loop waits for its last arrival, slice 1.
  EXPECT_THAT(Dependents(*graph, 1), IsEmpty());
  EXPECT_THAT(Dependents(*graph, 3), ElementsAre(4, 6));
  EXPECT_EQ(graph->chunk(ChunkId(6)), (ByteRange{5, 6}));
}

TEST(RingTest, OneServerHasOneRing) {
  const auto graph = ValueOrDie(LowerRing(
      Request(CollectiveKind::kAllGather, 64, GroupLayout::Even(1, 8))));
  EXPECT_EQ(graph->num_chunks(), 8u);
  EXPECT_THAT(Order(GroupLayout::Even(1, 4), 0), ElementsAre(0, 1, 2, 3));
}

TEST(RingTest, ChannelsCrossBetweenServersOnOneRail) {
  const GroupLayout layout = GroupLayout::Even(2, 4);
  EXPECT_THAT(Order(layout, 0), ElementsAre(0, 1, 2, 3, 7, 6, 5, 4));
  EXPECT_THAT(Order(layout, 1), ElementsAre(1, 2, 3, 0, 4, 7, 6, 5));
  EXPECT_EQ(Order(layout, 5), Order(layout, 1));

  for (const uint32_t num_servers : {2u, 4u, 6u}) {
    for (uint32_t channel = 0; channel < 4; ++channel) {
      const std::vector<uint32_t> order =
          Order(GroupLayout::Even(num_servers, 4), channel);
      for (size_t i = 0; i < order.size(); ++i) {
        const uint32_t from = order[i];
        const uint32_t to = order[(i + 1) % order.size()];
        if (from / 4 != to / 4) {
          EXPECT_EQ(from % 4, to % 4);
        }
      }
    }
  }
}

// GPUs 0, 1, 3 of the first server and 2, 3 of the second: ranks 0, 1, 2 and 3,
// 4. Channel 0 leaves on GPU 3 and so enters at rank 4. Channel 1 leaves on GPU
// 0, which the second server has not, and enters at local rank 1 - 1.
TEST(RingTest, EntersAServerOnTheRailOnWhichItLeftTheLast) {
  const GroupLayout layout = GroupLayout::Of(
      {RankId(0), RankId(1), RankId(3), RankId(6), RankId(7)}, Star(2, 4));
  EXPECT_THAT(Order(layout, 0), ElementsAre(0, 1, 2, 4, 3));
  EXPECT_THAT(Order(layout, 1), ElementsAre(1, 2, 0, 3, 4));
}

TEST(RingTest, EachNicCarriesOneChannelOutAndOneIn) {
  std::vector<int> out(16), in(16);
  const StepSchedule schedule = ValueOrDie(RingSteps(
      Request(CollectiveKind::kAllReduce, 1, GroupLayout::Even(4, 4))));
  for (const StepFlow& flow : schedule.steps.front().flows) {
    if (flow.source.index() / 4 == flow.target.index() / 4) continue;
    ++out[flow.source.index()];
    ++in[flow.target.index()];
  }
  EXPECT_THAT(out, ::testing::Each(1));
  EXPECT_THAT(in, ::testing::Each(1));
}

// 8,192 ranks on 8 channels have 10^9 flows, far more than could be stored.
TEST(RingTest, AGraphOfAThousandServersIsComputedFromNumbers) {
  const auto graph =
      ValueOrDie(LowerRing(Request(CollectiveKind::kAllReduce, int64_t{1} << 30,
                                   GroupLayout::Even(1024, 8))));
  EXPECT_EQ(graph->num_flows(), uint64_t{2} * 8191 * 8192 * 8);
  EXPECT_EQ(graph->num_flows_of(GroupRank(8191)), uint64_t{2} * 2 * 8191 * 8);
  const FlowId last(graph->num_flows() - 1);
  EXPECT_EQ(graph->flow(last).bytes, Bytes((1 << 30) / 8192 / 8));
  EXPECT_EQ(graph->num_dependencies(last), 1u);
}

TEST(RingTest, RefusesMoreFlowsThanCanBeNumbered) {
  EXPECT_THAT(
      LowerRing(Request(CollectiveKind::kAllReduce, 1 << 20,
                        GroupLayout::Even(1 << 20, 1))),
      StatusIs(absl::StatusCode::kResourceExhausted,
               HasSubstr("ring all-reduce of 1048576B over 1048576 ranks needs "
                         "1 x 2199021158400 flows")));
}

}  // namespace
}  // namespace astra
