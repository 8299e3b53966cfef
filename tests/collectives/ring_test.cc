#include "collectives/ring.h"

#include <cstdint>
#include <string>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CollectiveRequest Request(CollectiveKind kind, Bytes bytes, GroupShape shape) {
  return ValueOrDie(CollectiveRequest::Create(kind, bytes, shape));
}

GroupShape OneServer(uint32_t n) {
  return {.num_ranks = n, .ranks_per_server = n};
}

// "source>target chunk:bytes", with + where the receiver reduces.
std::string Text(const Flow& flow) {
  return fmt::format("{}>{} {}:{}{}", flow.source, flow.target, flow.chunk,
                     flow.bytes, flow.op == FlowOp::kReduce ? "+" : "");
}

std::vector<uint32_t> Order(const GroupShape& shape, uint32_t channel) {
  std::vector<uint32_t> order;
  for (const GroupRank rank : RingOrder(shape, channel)) {
    order.push_back(rank.index());
  }
  return order;
}

TEST(RingTest, AllReduceOfThreeRanks) {
  const FlowGraph graph = ValueOrDie(
      LowerRing(Request(CollectiveKind::kAllReduce, Bytes(7), OneServer(3))));

  // 7 bytes make chunks of 3, 2 and 2. Written out by hand from ring.h.
  std::vector<std::string> flows;
  for (uint32_t i = 0; i < graph.num_flows(); ++i) {
    flows.push_back(Text(graph.flow(FlowId(i))));
  }
  EXPECT_THAT(flows, ElementsAre("0>1 2:2B+", "1>2 0:3B+", "2>0 1:2B+",  //
                                 "0>1 1:2B+", "1>2 2:2B+", "2>0 0:3B+",  //
                                 "0>1 0:3B", "1>2 1:2B", "2>0 2:2B",     //
                                 "0>1 2:2B", "1>2 0:3B", "2>0 1:2B"));
}

TEST(RingTest, AFlowWaitsOnlyForItsChunkToArrive) {
  const FlowGraph graph = ValueOrDie(
      LowerRing(Request(CollectiveKind::kAllReduce, KiB(3), OneServer(3))));

  EXPECT_EQ(graph.num_dependencies(FlowId(0)), 0u);
  EXPECT_THAT(graph.dependents(FlowId(0)), ElementsAre(FlowId(4)));
  EXPECT_EQ(graph.num_dependencies(FlowId(4)), 1u);
  EXPECT_THAT(graph.dependents(FlowId(9)), IsEmpty());  // The last step.
}

TEST(RingTest, ABufferSmallerThanTheRingLeavesEmptyChunks) {
  const FlowGraph graph = ValueOrDie(
      LowerRing(Request(CollectiveKind::kAllGather, Bytes(1), OneServer(4))));

  EXPECT_EQ(graph.num_flows(), 12u);
  EXPECT_EQ(graph.flow(FlowId(0)).bytes, Bytes(1));  // Chunk 0.
  EXPECT_EQ(graph.flow(FlowId(1)).bytes, Bytes(0));  // Chunk 1.
}

TEST(RingTest, OneServerHasOneRing) {
  EXPECT_EQ(NumRingChannels(OneServer(8)), 1u);
  EXPECT_THAT(Order(OneServer(4), 0), ElementsAre(0, 1, 2, 3));
}

TEST(RingTest, ChannelsCrossBetweenServersOnOneRail) {
  const GroupShape shape = {.num_ranks = 8, .ranks_per_server = 4};
  ASSERT_EQ(NumRingChannels(shape), 4u);
  EXPECT_THAT(Order(shape, 0), ElementsAre(0, 1, 2, 3, 7, 6, 5, 4));
  EXPECT_THAT(Order(shape, 1), ElementsAre(1, 2, 3, 0, 4, 7, 6, 5));

  for (const uint32_t num_servers : {2u, 4u, 6u}) {
    const GroupShape even = {.num_ranks = 4 * num_servers,
                             .ranks_per_server = 4};
    for (uint32_t channel = 0; channel < 4; ++channel) {
      const std::vector<uint32_t> order = Order(even, channel);
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

TEST(RingTest, EachNicCarriesOneChannelOutAndOneIn) {
  const GroupShape shape = {.num_ranks = 16, .ranks_per_server = 4};
  std::vector<int> out(16), in(16);
  const StepSchedule steps = RingSteps(CollectiveKind::kAllReduce, shape);
  for (const StepFlow& flow : steps.front().flows) {
    if (flow.source.index() / 4 == flow.target.index() / 4) continue;
    ++out[flow.source.index()];
    ++in[flow.target.index()];
  }
  EXPECT_THAT(out, ::testing::Each(1));
  EXPECT_THAT(in, ::testing::Each(1));
}

TEST(RingTest, RefusesAGraphThatWouldNotFitInMemory) {
  EXPECT_THAT(
      LowerRing(Request(CollectiveKind::kAllReduce, MiB(1), {8193, 1})),
      StatusIs(absl::StatusCode::kResourceExhausted,
               HasSubstr("ring all-reduce over 8193 ranks on 1 channel(s) "
                         "needs 134234112 flows")));
}

}  // namespace
}  // namespace astra
