#include "astra-core/engine/flow_run.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "collectives/registry.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"

namespace astra {
namespace {

using ::astra::testing::FullMesh;
using ::astra::testing::OneServer;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::shared_ptr<const FlowGraph> RingAllReduce(Bytes bytes, uint32_t n) {
  constexpr CollectiveKind kKind = CollectiveKind::kAllReduce;
  const CollectiveAlgorithm ring =
      ValueOrDie(FindCollectiveAlgorithm(kKind, "ring"));
  return ValueOrDie(ring.lower(ValueOrDie(CollectiveRequest::Create(
      kKind, bytes, std::make_shared<GroupLayout>(GroupLayout::Even(1, n))))));
}

std::vector<NodeId> FirstNodes(uint32_t n) {
  std::vector<NodeId> nodes;
  for (uint32_t i = 0; i < n; ++i) nodes.push_back(NodeId(i));
  return nodes;
}

// On idle links a ring all-reduce takes 2 (n - 1) (a + S/(n B)); see ring.h.
TEST(RunFlowGraphTest, RingAllReduceTakesItsClosedFormTime) {
  const Topology mesh = FullMesh(8, "400Gbps", "500ns");
  Routes routes(mesh);
  AnalyticalBackend network(routes);
  EXPECT_EQ(ValueOrDie(RunFlowGraph(RingAllReduce(MiB(64), 8), FirstNodes(8),
                                    network)),
            14 * (Nanoseconds(500) + TransferTime(MiB(8), Gbps(400))));
}

TEST(RunFlowGraphTest, StartsAtTheBackendsPresent) {
  const Topology mesh = FullMesh(2, "400Gbps", "500ns");
  Routes routes(mesh);
  AnalyticalBackend network(routes);
  const auto graph = RingAllReduce(KiB(2), 2);
  const TimePs first = ValueOrDie(RunFlowGraph(graph, FirstNodes(2), network));
  const TimePs second = ValueOrDie(RunFlowGraph(graph, FirstNodes(2), network));
  EXPECT_EQ(first, second);
  EXPECT_EQ(network.now(), first + second);
}

// 1000 bytes that rank 0 sends to rank 1 and rank 1, once it has reduced them,
// to rank 2.
std::shared_ptr<const FlowGraph> Chain() {
  FlowGraph::Builder builder(3);
  const ChunkId chunk = builder.AddChunk({0, 1000});
  const FlowId first = builder.Add({.source = GroupRank(0),
                                    .target = GroupRank(1),
                                    .first_chunk = chunk,
                                    .op = FlowOp::kReduce});
  const FlowId second = builder.Add(
      {.source = GroupRank(1), .target = GroupRank(2), .first_chunk = chunk});
  builder.AddDependency(first, second);
  return std::move(builder).Build();
}

// 1 kB at 1 GB/s takes 1 us.
TEST(RunFlowGraphTest, MessagesCostTimeAtBothEnds) {
  const Topology mesh = FullMesh(3, "8Gbps", "500ns");
  const auto time = [&](const MessageCosts& costs) {
    Routes routes(mesh);
    AnalyticalBackend network(routes);
    return ValueOrDie(RunFlowGraph(Chain(), FirstNodes(3), network, costs));
  };
  const TimePs free = 2 * (Nanoseconds(500) + Microseconds(1));
  EXPECT_EQ(time({}), free);
  EXPECT_EQ(time({.per_message = TimePs(7)}), free + 2 * TimePs(7));
  EXPECT_EQ(time({.reduce_ps_per_byte = 0.25}), free + TimePs(250));
  EXPECT_EQ(time({.copy_ps_per_byte = 3}), free + Nanoseconds(3));
  EXPECT_EQ(time({.wire_bytes_per_byte = 2}), free + Microseconds(2));
  EXPECT_EQ(time({.per_message = TimePs(7),
                  .reduce_ps_per_byte = 0.25,
                  .copy_ps_per_byte = 3,
                  .wire_bytes_per_byte = 2}),
            free + TimePs(14 + 250) + Nanoseconds(3) + Microseconds(2));
}

// Ranks 0 and 1 send to switch 2, which reduces and sends the sum to both.
std::shared_ptr<const FlowGraph> InASwitch() {
  FlowGraph::Builder builder(2, 1);
  const ChunkId chunk = builder.AddChunk({0, 1000});
  for (const uint32_t rank : {0u, 1u}) {
    builder.Add({.source = GroupRank(rank),
                 .target = GroupRank(2),
                 .first_chunk = chunk,
                 .op = FlowOp::kReduce});
  }
  for (const uint32_t rank : {0u, 1u}) {
    const FlowId down = builder.Add({.source = GroupRank(2),
                                     .target = GroupRank(rank),
                                     .first_chunk = chunk});
    builder.AddDependency(FlowId(0), down);
    builder.AddDependency(FlowId(1), down);
  }
  return std::move(builder).Build();
}

// Reducing costs the switch nothing; copying costs the ranks.
TEST(RunFlowGraphTest, SwitchesReduceAtTheRateOfTheirLinks) {
  const Topology server = OneServer(2, "8Gbps", "500ns");
  Routes routes(server);
  AnalyticalBackend network(routes);
  EXPECT_EQ(ValueOrDie(
                RunFlowGraph(InASwitch(), FirstNodes(3), network,
                             {.reduce_ps_per_byte = 5, .copy_ps_per_byte = 1})),
            2 * (Nanoseconds(500) + Microseconds(1)) + Nanoseconds(1));
}

TEST(FlowRunTest, SwitchesAreThereFromTheStartAndNeverFinish) {
  FlowRun run(InASwitch());
  std::vector<FlowId> ready;
  std::vector<GroupRank> finished;
  run.Join(GroupRank(1), &ready);
  EXPECT_THAT(ready, ElementsAre(FlowId(1)));
  run.Arrive(FlowId(1), &ready, &finished);
  run.Join(GroupRank(0), &ready);
  EXPECT_THAT(ready, ElementsAre(FlowId(1), FlowId(0)));
  ready.clear();
  run.Arrive(FlowId(0), &ready, &finished);
  EXPECT_THAT(ready, ElementsAre(FlowId(2), FlowId(3)));
  run.Arrive(FlowId(3), &ready, &finished);
  run.Arrive(FlowId(2), &ready, &finished);
  EXPECT_THAT(finished, ElementsAre(GroupRank(1), GroupRank(0)));
  EXPECT_TRUE(run.is_done());
}

TEST(FlowRunTest, AFlowWaitsForBothItsRanksToJoin) {
  // Two ranks: flows 0 and 1 go both ways, then 2 and 3.
  FlowRun run(RingAllReduce(KiB(2), 2));
  std::vector<FlowId> ready;
  run.Join(GroupRank(1), &ready);
  EXPECT_THAT(ready, IsEmpty());
  run.Join(GroupRank(0), &ready);
  EXPECT_THAT(ready, ElementsAre(FlowId(0), FlowId(1)));
}

// Rank 1 can go on to rank 2 before that one joins, and rank 3 has no part.
TEST(FlowRunTest, AReleasedFlowWaitsForItsTargetToJoin) {
  FlowGraph::Builder builder(4);
  const ChunkId chunk = builder.AddChunk({0, 1});
  for (const uint32_t rank : {0u, 1u}) {
    builder.Add({.source = GroupRank(rank),
                 .target = GroupRank(rank + 1),
                 .first_chunk = chunk});
  }
  builder.AddDependency(FlowId(0), FlowId(1));
  FlowRun run(std::move(builder).Build());
  std::vector<FlowId> ready;
  std::vector<GroupRank> finished;
  run.Join(GroupRank(0), &ready);
  run.Join(GroupRank(1), &ready);
  EXPECT_THAT(ready, ElementsAre(FlowId(0)));
  ready.clear();
  run.Arrive(FlowId(0), &ready, &finished);
  EXPECT_THAT(ready, IsEmpty());
  run.Join(GroupRank(2), &ready);
  EXPECT_THAT(ready, ElementsAre(FlowId(1)));
  EXPECT_FALSE(run.is_finished(GroupRank(2)));
  EXPECT_TRUE(run.is_finished(GroupRank(3)));
}

TEST(FlowRunTest, ARankIsDoneWhenItsOwnFlowsAre) {
  FlowRun run(RingAllReduce(KiB(3), 3));
  std::vector<FlowId> ready;
  for (uint32_t rank = 0; rank < 3; ++rank) run.Join(GroupRank(rank), &ready);
  // Flows 3 s + r from rank r to r + 1. Without the last two arrivals, of flows
  // 10 (1 to 2) and 11 (2 to 0), no rank has all of its flows.
  std::vector<GroupRank> finished;
  for (uint32_t flow = 0; flow < 10; ++flow) {
    run.Arrive(FlowId(flow), &ready, &finished);
  }
  EXPECT_THAT(finished, IsEmpty());
  run.Arrive(FlowId(10), &ready, &finished);
  EXPECT_THAT(finished, ElementsAre(GroupRank(1)));
  EXPECT_FALSE(run.is_done());
  run.Arrive(FlowId(11), &ready, &finished);
  EXPECT_THAT(finished, ElementsAre(GroupRank(1), GroupRank(2), GroupRank(0)));
  EXPECT_TRUE(run.is_done());
}

// Computed, not stored: in each round every rank sends a byte to the next one
// once it has sent and received what there was in the round before.
class RoundsGraph final : public FlowGraph {
 public:
  RoundsGraph(uint32_t num_ranks, uint32_t num_rounds)
      : FlowGraph({.num_ranks = num_ranks,
                   .num_members = num_ranks,
                   .num_flows = uint64_t{num_ranks} * num_rounds,
                   .num_chunks = 1}) {}

  Flow flow(FlowId id) const override {
    const uint32_t source = RankOf(id);
    return {.source = GroupRank(source),
            .target = GroupRank((source + 1) % num_ranks()),
            .bytes = Bytes(1)};
  }
  ByteRange chunk(ChunkId) const override { return {0, 1}; }
  uint32_t num_dependencies(FlowId id) const override {
    return id.index() < num_ranks() ? 0 : 2;
  }
  void AppendDependents(FlowId id, std::vector<FlowId>* out) const override {
    const uint64_t next_round = id.index() - RankOf(id) + num_ranks();
    if (next_round == num_flows()) return;
    const uint32_t next_rank = (RankOf(id) + 1) % num_ranks();
    out->push_back(FlowId(next_round + std::min(RankOf(id), next_rank)));
    out->push_back(FlowId(next_round + std::max(RankOf(id), next_rank)));
  }
  void AppendFirstFlows(GroupRank source,
                        std::vector<FlowId>* out) const override {
    out->push_back(FlowId(source.index()));
  }
  uint64_t num_flows_of(GroupRank) const override {
    return 2 * num_flows() / num_ranks();
  }

 private:
  uint32_t RankOf(FlowId id) const {
    return static_cast<uint32_t>(id.index() % num_ranks());
  }
};

// The same flows in a stored graph.
std::shared_ptr<const FlowGraph> Stored(const FlowGraph& graph) {
  FlowGraph::Builder builder(graph.num_ranks(),
                             graph.num_members() - graph.num_ranks());
  for (uint32_t i = 0; i < graph.num_chunks(); ++i) {
    builder.AddChunk(graph.chunk(ChunkId(i)));
  }
  for (uint64_t i = 0; i < graph.num_flows(); ++i) {
    builder.Add(graph.flow(FlowId(i)));
  }
  std::vector<FlowId> dependents;
  for (uint64_t i = 0; i < graph.num_flows(); ++i) {
    dependents.clear();
    graph.AppendDependents(FlowId(i), &dependents);
    for (const FlowId later : dependents) {
      builder.AddDependency(FlowId(i), later);
    }
  }
  return std::move(builder).Build();
}

// What happens where ranks join and flows arrive in an order drawn with `seed`.
std::vector<std::string> Replay(std::shared_ptr<const FlowGraph> graph,
                                uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint32_t> absent;
  for (uint32_t i = 0; i < graph->num_ranks(); ++i) absent.push_back(i);
  FlowRun run(std::move(graph));
  std::vector<FlowId> in_flight;
  std::vector<std::string> events;
  while (!run.is_done()) {
    std::vector<FlowId> ready;
    std::vector<GroupRank> finished;
    const uint64_t drawn = random() % (absent.size() + in_flight.size());
    if (drawn < absent.size()) {
      std::swap(absent[drawn], absent.back());
      run.Join(GroupRank(absent.back()), &ready);
      absent.pop_back();
    } else {
      std::swap(in_flight[drawn - absent.size()], in_flight.back());
      const FlowId flow = in_flight.back();
      in_flight.pop_back();
      run.Arrive(flow, &ready, &finished);
    }
    EXPECT_TRUE(std::is_sorted(ready.begin(), ready.end()));
    in_flight.insert(in_flight.end(), ready.begin(), ready.end());
    events.push_back(
        fmt::format("{} {}", fmt::join(ready, ","), fmt::join(finished, ",")));
  }
  return events;
}

TEST(FlowRunTest, AComputedGraphRunsAsTheSameGraphStored) {
  const std::shared_ptr<const FlowGraph> graphs[] = {
      std::make_shared<RoundsGraph>(2, 5), std::make_shared<RoundsGraph>(7, 6),
      RingAllReduce(KiB(1), 5)};
  for (const auto& graph : graphs) {
    const std::shared_ptr<const FlowGraph> stored = Stored(*graph);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      ASSERT_EQ(Replay(graph, seed), Replay(stored, seed));
    }
  }
}

// Keeps the largest id that was sent.
class WatchingBackend final : public NetworkBackend {
 public:
  explicit WatchingBackend(Routes& routes) : network_(routes) {}

  TimePs now() const override { return network_.now(); }
  void Send(const Message& message) override {
    largest_ = std::max(largest_, message.id);
    network_.Send(message);
  }
  void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) override {
    network_.AdvanceTo(limit, arrived);
  }
  absl::Span<const double> link_bytes() const override {
    return network_.link_bytes();
  }
  const NetworkStatistics& statistics() override {
    return network_.statistics();
  }
  MessageId largest() const { return largest_; }

 private:
  AnalyticalBackend network_;
  MessageId largest_;
};

TEST(RunFlowGraphTest, IdsOfMessagesAreUsedAgain) {
  const Topology mesh = FullMesh(8, "400Gbps", "500ns");
  Routes routes(mesh);
  WatchingBackend network(routes);
  const auto graph = std::make_shared<RoundsGraph>(8, 1000);
  EXPECT_EQ(ValueOrDie(RunFlowGraph(graph, FirstNodes(8), network)),
            1000 * (Nanoseconds(500) + TransferTime(Bytes(1), Gbps(400))));
  EXPECT_EQ(network.largest(), MessageId(7));
}

// A network that loses everything.
class SilentBackend final : public NetworkBackend {
 public:
  TimePs now() const override { return TimePs(0); }
  void Send(const Message&) override {}
  void AdvanceTo(TimePs, std::vector<MessageId>*) override {}
  absl::Span<const double> link_bytes() const override { return {}; }
  const NetworkStatistics& statistics() override { return statistics_; }

 private:
  NetworkStatistics statistics_;
};

TEST(RunFlowGraphTest, ReportsANetworkThatStopsDelivering) {
  SilentBackend network;
  EXPECT_THAT(RunFlowGraph(RingAllReduce(KiB(2), 2), FirstNodes(2), network),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("4 of 4 messages missing")));
}

}  // namespace
}  // namespace astra
