#include "astra-core/engine/flow_run.h"

#include <memory>
#include <vector>

#include "collectives/registry.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"

namespace astra {
namespace {

using ::astra::testing::FullMesh;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::shared_ptr<const FlowGraph> RingAllReduce(Bytes bytes, uint32_t n) {
  const CollectiveAlgorithm& ring =
      DefaultCollectiveAlgorithm(CollectiveKind::kAllReduce);
  return std::make_shared<FlowGraph>(ValueOrDie(ring.lower(ValueOrDie(
      CollectiveRequest::Create(CollectiveKind::kAllReduce, bytes, {n, n})))));
}

std::vector<RankId> FirstRanks(uint32_t n) {
  std::vector<RankId> ranks;
  for (uint32_t i = 0; i < n; ++i) ranks.push_back(RankId(i));
  return ranks;
}

// On idle links a ring all-reduce takes 2 (n - 1) (a + S/(n B)); see ring.h.
TEST(RunFlowGraphTest, RingAllReduceTakesItsClosedFormTime) {
  const Topology mesh = FullMesh(8, "400Gbps", "500ns");
  Routes routes(mesh);
  AnalyticalBackend network(routes);
  EXPECT_EQ(ValueOrDie(RunFlowGraph(RingAllReduce(MiB(64), 8), FirstRanks(8),
                                    network)),
            14 * (Nanoseconds(500) + TransferTime(MiB(8), Gbps(400))));
}

TEST(RunFlowGraphTest, StartsAtTheBackendsPresent) {
  const Topology mesh = FullMesh(2, "400Gbps", "500ns");
  Routes routes(mesh);
  AnalyticalBackend network(routes);
  const auto graph = RingAllReduce(KiB(2), 2);
  const TimePs first = ValueOrDie(RunFlowGraph(graph, FirstRanks(2), network));
  const TimePs second = ValueOrDie(RunFlowGraph(graph, FirstRanks(2), network));
  EXPECT_EQ(first, second);
  EXPECT_EQ(network.now(), first + second);
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

// A network that loses everything.
class SilentBackend final : public NetworkBackend {
 public:
  TimePs now() const override { return TimePs(0); }
  void Send(const Message&) override {}
  void AdvanceTo(TimePs, std::vector<MessageId>*) override {}
  absl::Span<const double> link_bytes() const override { return {}; }
};

TEST(RunFlowGraphTest, ReportsANetworkThatStopsDelivering) {
  SilentBackend network;
  EXPECT_THAT(RunFlowGraph(RingAllReduce(KiB(2), 2), FirstRanks(2), network),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("4 of 4 messages missing")));
}

}  // namespace
}  // namespace astra
