#include "collectives/flow_graph.h"

#include <memory>
#include <utility>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<FlowId> Dependents(const FlowGraph& graph, uint64_t flow) {
  std::vector<FlowId> flows;
  graph.AppendDependents(FlowId(flow), &flows);
  return flows;
}

std::vector<FlowId> FirstFlows(const FlowGraph& graph, uint32_t source) {
  std::vector<FlowId> flows;
  graph.AppendFirstFlows(GroupRank(source), &flows);
  return flows;
}

// Ranks 0 and 1 and switch 2, which reduces [0, 3) of both and sends [0, 7)
// to rank 1.
std::unique_ptr<const FlowGraph> ReduceInASwitch() {
  FlowGraph::Builder builder(2, 1);
  const ChunkId low = builder.AddChunk({0, 3});
  builder.AddChunk({3, 7});
  const Flow up = {.source = GroupRank(0),
                   .target = GroupRank(2),
                   .first_chunk = low,
                   .op = FlowOp::kReduce};
  Flow other = up;
  other.source = GroupRank(1);
  const FlowId first = builder.Add(up);
  const FlowId second = builder.Add(other);
  const FlowId later = builder.Add(
      {.source = GroupRank(2), .target = GroupRank(0), .first_chunk = low});
  const FlowId down = builder.Add({.source = GroupRank(2),
                                   .target = GroupRank(1),
                                   .first_chunk = low,
                                   .num_chunks = 2,
                                   .bytes = Bytes(99)});
  builder.AddDependency(first, down);
  builder.AddDependency(second, down);
  builder.AddDependency(first, later);  // Out of order.
  EXPECT_EQ(builder.num_flows(), 4u);
  return std::move(builder).Build();
}

TEST(FlowGraphTest, AStoredGraphSaysWhatWasAdded) {
  const std::unique_ptr<const FlowGraph> graph = ReduceInASwitch();
  EXPECT_EQ(graph->num_ranks(), 2u);
  EXPECT_EQ(graph->num_members(), 3u);
  EXPECT_EQ(graph->num_flows(), 4u);
  EXPECT_EQ(graph->num_chunks(), 2u);
  EXPECT_EQ(graph->flow(FlowId(1)).source, GroupRank(1));
  EXPECT_EQ(graph->flow(FlowId(1)).op, FlowOp::kReduce);
  EXPECT_EQ(graph->chunk(ChunkId(1)), (ByteRange{3, 7}));
  EXPECT_EQ(graph->num_flows_of(GroupRank(0)), 2u);
  EXPECT_EQ(graph->num_flows_of(GroupRank(2)), 4u);
}

TEST(FlowGraphTest, AFlowHasTheBytesOfItsChunks) {
  const std::unique_ptr<const FlowGraph> graph = ReduceInASwitch();
  EXPECT_EQ(graph->flow(FlowId(0)).bytes, Bytes(3));
  EXPECT_EQ(graph->flow(FlowId(3)).bytes, Bytes(7));
}

TEST(FlowGraphTest, FlowsAreListedInIncreasingOrder) {
  const std::unique_ptr<const FlowGraph> graph = ReduceInASwitch();
  EXPECT_THAT(Dependents(*graph, 0), ElementsAre(FlowId(2), FlowId(3)));
  EXPECT_THAT(Dependents(*graph, 1), ElementsAre(FlowId(3)));
  EXPECT_THAT(Dependents(*graph, 3), IsEmpty());
  EXPECT_EQ(graph->num_dependencies(FlowId(0)), 0u);
  EXPECT_EQ(graph->num_dependencies(FlowId(3)), 2u);
  EXPECT_THAT(FirstFlows(*graph, 1), ElementsAre(FlowId(1)));
  EXPECT_THAT(FirstFlows(*graph, 2), IsEmpty());
}

TEST(FlowGraphDeathTest, AFlowWaitsOnlyForWhatItsSourceSees) {
  FlowGraph::Builder builder(3);
  const ChunkId chunk = builder.AddChunk({0, 1});
  const FlowId earlier = builder.Add(
      {.source = GroupRank(0), .target = GroupRank(1), .first_chunk = chunk});
  const FlowId later = builder.Add(
      {.source = GroupRank(2), .target = GroupRank(0), .first_chunk = chunk});
  EXPECT_DEATH(builder.AddDependency(earlier, later),
               "flow 1 from member 2 waits for one from 0 to 1");
}

}  // namespace
}  // namespace astra
