#include "collectives/schedules/custom_schedule.h"

#include <memory>
#include <vector>

#include "tests/collectives/schedules/schedule_requests.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::RequestOf;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

ScheduleFlow Send(uint32_t source, uint32_t target, uint32_t chunk,
                  FlowOp op = FlowOp::kCopy, std::vector<uint32_t> after = {}) {
  return {.source = GroupRank(source),
          .target = GroupRank(target),
          .first_chunk = ChunkId(chunk),
          .op = op,
          .after = std::move(after)};
}

// A chain of 3 ranks in 2 chunks.
CustomSchedule Chain() {
  return ValueOrDie(CustomSchedule::Create(
      "chain", {CollectiveKind::kBroadcast, 3, 2},
      {Send(0, 1, 0), Send(0, 1, 1), Send(1, 2, 0, FlowOp::kCopy, {0}),
       Send(1, 2, 1, FlowOp::kCopy, {1})}));
}

std::vector<ByteRange> ChunksOf(const FlowGraph& graph) {
  std::vector<ByteRange> chunks;
  for (uint32_t i = 0; i < graph.num_chunks(); ++i) {
    chunks.push_back(graph.chunk(ChunkId(i)));
  }
  return chunks;
}

TEST(CustomSchedule, LosesNoByteWhereTheChunksDoNotDivideTheBuffer) {
  const auto graph =
      ValueOrDie(Chain().Lower(RequestOf(CollectiveKind::kBroadcast, 3, 11)));
  EXPECT_THAT(ChunksOf(*graph), ElementsAre(ByteRange{0, 6}, ByteRange{6, 11}));
  EXPECT_EQ(graph->num_flows(), 4);
  EXPECT_EQ(graph->flow(FlowId(2)).bytes, Bytes(6));
  EXPECT_EQ(graph->flow(FlowId(3)).bytes, Bytes(5));
}

TEST(CustomSchedule, KeepsWhatWaitsForWhat) {
  const auto graph =
      ValueOrDie(Chain().Lower(RequestOf(CollectiveKind::kBroadcast, 3, 2)));
  std::vector<FlowId> ids;
  graph->AppendDependents(FlowId(1), &ids);
  EXPECT_THAT(ids, ElementsAre(FlowId(3)));
  ids.clear();
  graph->AppendFirstFlows(GroupRank(0), &ids);
  EXPECT_THAT(ids, ElementsAre(FlowId(0), FlowId(1)));
}

TEST(CustomSchedule, CountsTargetsAndChannelsOfARank) {
  EXPECT_EQ(Chain().MostConnections(), 1);
  std::vector<ScheduleFlow> flows = {Send(0, 1, 0), Send(0, 1, 1),
                                     Send(0, 2, 0), Send(0, 2, 1)};
  const ChunkedCollective broadcast = {CollectiveKind::kBroadcast, 3, 2};
  EXPECT_EQ(ValueOrDie(CustomSchedule::Create("star", broadcast, flows))
                .MostConnections(),
            2);
  flows[1].channel = 1;
  EXPECT_EQ(ValueOrDie(CustomSchedule::Create("star", broadcast, flows))
                .MostConnections(),
            3);
}

// Parts of 3, 2, 2 bytes, each in two chunks.
TEST(CustomSchedule, CutsEachRanksPart) {
  const CustomSchedule schedule = ValueOrDie(CustomSchedule::Create(
      "none", {CollectiveKind::kReduceScatter, 3, 6}, {}));
  const auto graph = ValueOrDie(
      schedule.Lower(RequestOf(CollectiveKind::kReduceScatter, 3, 7)));
  EXPECT_THAT(ChunksOf(*graph),
              ElementsAre(ByteRange{0, 2}, ByteRange{2, 3}, ByteRange{3, 4},
                          ByteRange{4, 5}, ByteRange{5, 6}, ByteRange{6, 7}));
}

TEST(CustomSchedule, TakesTheSizesOfAnAllToAllV) {
  const CustomSchedule schedule = ValueOrDie(
      CustomSchedule::Create("pair", {CollectiveKind::kAllToAll, 2, 4},
                             {Send(0, 1, 1), Send(1, 0, 2)}));
  const auto layout =
      std::make_shared<const GroupLayout>(GroupLayout::Even(1, 2));
  const auto graph = ValueOrDie(schedule.Lower(
      ValueOrDie(CollectiveRequest::AllToAllV({0, 5, 7, 0}, layout))));
  EXPECT_EQ(graph->flow(FlowId(0)).bytes, Bytes(5));
  EXPECT_EQ(graph->flow(FlowId(1)).bytes, Bytes(7));
}

// Steps: both chunks leave rank 0 at once; then both leave rank 1.
TEST(CustomSchedule, StepsMoveTheSameBytes) {
  const StepSchedule steps =
      ValueOrDie(Chain().Steps(RequestOf(CollectiveKind::kBroadcast, 3, 11)));
  EXPECT_TRUE(steps.is_pipelined);
  ASSERT_EQ(steps.steps.size(), 2);
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(steps.steps[i].repeat, 1);
    ASSERT_EQ(steps.steps[i].flows.size(), 1);
    EXPECT_EQ(steps.steps[i].flows[0].source, GroupRank(i));
    EXPECT_EQ(steps.steps[i].flows[0].target, GroupRank(i + 1));
    EXPECT_DOUBLE_EQ(steps.steps[i].flows[0].share, 1);
  }
}

TEST(CustomSchedule, RefusesOtherRequests) {
  EXPECT_THAT(Chain().Lower(RequestOf(CollectiveKind::kReduce, 3, 8)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "schedule \"chain\" is for the broadcast, not the "
                       "reduce"));
  EXPECT_THAT(Chain().Lower(RequestOf(CollectiveKind::kBroadcast, 4, 8)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "schedule \"chain\" is for 3 ranks, not 4"));
  EXPECT_THAT(
      Chain().Steps(ValueOrDie(
          RequestOf(CollectiveKind::kBroadcast, 3, 8).WithRoot(GroupRank(2)))),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "schedule \"chain\" is for the root 0, not 2"));
}

TEST(CustomSchedule, RefusesFlowsThatCannotBe) {
  const ChunkedCollective all_gather = {CollectiveKind::kAllGather, 3, 3};
  const auto error_of = [&](const ScheduleFlow& second) {
    return CustomSchedule::Create("bad", all_gather, {Send(0, 1, 0), second})
        .status();
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(error_of(Send(0, 3, 0)),
              StatusIs(kInvalid, "step 1 has rank 3 of 3"));
  EXPECT_THAT(error_of(Send(2, 2, 0)),
              StatusIs(kInvalid, "step 1 goes from rank 2 to itself"));
  EXPECT_THAT(error_of(Send(1, 2, 3)),
              StatusIs(kInvalid, "step 1 has 1 chunk(s) from 3 on of 3"));
  EXPECT_THAT(error_of(Send(1, 2, 0, FlowOp::kReduce)),
              StatusIs(kInvalid, "step 1 reduces, but no all-gather does"));
  EXPECT_THAT(
      error_of(Send(1, 2, 0, FlowOp::kCopy, {1})),
      StatusIs(kInvalid, "step 1 waits for step 1, which is not before it"));
  EXPECT_THAT(error_of(Send(2, 0, 0, FlowOp::kCopy, {0})),
              StatusIs(kInvalid,
                       "step 1 leaves rank 2 and waits for step 0, which "
                       "neither comes there nor leaves there"));
}

TEST(CustomSchedule, RefusesChunksThatAreNotAsManyForEachPart) {
  EXPECT_THAT(
      CustomSchedule::Create("bad", {CollectiveKind::kAllToAll, 3, 6}, {}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "6 chunks: expected a multiple of 9 for the all-to-all of 3 "
               "ranks"));
}

}  // namespace
}  // namespace astra
