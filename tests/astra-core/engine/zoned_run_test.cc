#include "astra-core/engine/zoned_run.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "astra-core/engine/flow_run.h"
#include "collectives/registry.h"
#include "network-frontends/packet/packet_backend.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/zones/zoned_packet_network.h"
#include "network-frontends/packet/zones/zoning.h"
#include "tests/testing/matchers.h"
#include "tests/testing/rails.h"
#include "tests/testing/small_clusters.h"

namespace astra {
namespace {

using ::astra::testing::FullMesh;
using ::astra::testing::Rails;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

std::vector<NodeId> FirstNodes(uint32_t n) {
  std::vector<NodeId> nodes;
  for (uint32_t i = 0; i < n; ++i) nodes.emplace_back(i);
  return nodes;
}

std::shared_ptr<const FlowGraph> GraphOf(CollectiveKind kind,
                                         const GroupLayout& layout,
                                         const Chunking& chunking) {
  const CollectiveAlgorithm algorithm = ValueOrDie(FindCollectiveAlgorithm(
      kind, kind == CollectiveKind::kAllToAll ? "direct" : "ring"));
  const CollectiveRequest request = ValueOrDie(CollectiveRequest::Create(
      kind, KiB(900), std::make_shared<GroupLayout>(layout)));
  return ValueOrDie(algorithm.lower(ValueOrDie(request.With(chunking))));
}

ZonedPacketNetwork InZones(const Topology& topology,
                           const PacketOptions& options, uint32_t num_zones) {
  Zoning zoning =
      ValueOrDie(FindZones(PacketSetup(topology, options), num_zones));
  EXPECT_EQ(zoning.num_zones, num_zones);
  return {topology, options, std::move(zoning)};
}

// Checks that 1, 2 and 3 zones give the same time and bytes.
void ExpectAlike(const Topology& topology, const std::vector<NodeId>& nodes,
                 const std::shared_ptr<const FlowGraph>& graph,
                 const MessageCosts& costs) {
  const PacketOptions options;
  PacketBackend alone(topology, options);
  const TimePs time = ValueOrDie(RunFlowGraph(graph, nodes, alone, costs));
  const std::vector<double> bytes = {alone.link_bytes().begin(),
                                     alone.link_bytes().end()};
  for (const uint32_t num_zones : {2U, 3U}) {
    ZonedPacketNetwork network = InZones(topology, options, num_zones);
    EXPECT_EQ(ValueOrDie(RunInZones({graph, nodes, costs}, network)), time);
    EXPECT_EQ(network.link_bytes(), bytes);
    EXPECT_GT(network.statistics().num_windows, 10U);
  }
}

TEST(ZonedRunTest, TimesAreThoseOfOneZone) {
  const Topology rails = Rails(6, "25ns");
  std::vector<NodeId> first_of_servers;
  for (uint32_t gpu = 0; gpu < 12; gpu += 2) first_of_servers.emplace_back(gpu);
  const Topology mesh = FullMesh(6, "100Gbps", "700ns");
  MessageCosts costs;
  for (const int64_t delay_ns : {0, 1, 3000}) {
    costs.start = Nanoseconds(10 * delay_ns);
    costs.per_message = Nanoseconds(delay_ns);
    costs.reduce_ps_per_byte = static_cast<double>(delay_ns) / 100;
    for (const CollectiveKind kind :
         {CollectiveKind::kAllReduce, CollectiveKind::kAllToAll}) {
      ExpectAlike(rails, first_of_servers,
                  GraphOf(kind, GroupLayout::Even(6, 1), {.num_channels = 2}),
                  costs);
      ExpectAlike(mesh, FirstNodes(6),
                  GraphOf(kind, GroupLayout::Even(1, 6), {}), costs);
    }
  }
}

TEST(ZonedRunTest, ALeastTimeHolds) {
  const Topology mesh = FullMesh(2, "100Gbps", "700ns");
  const auto graph =
      GraphOf(CollectiveKind::kAllReduce, GroupLayout::Even(1, 2), {});
  ZonedPacketNetwork network = InZones(mesh, {}, 2);
  MessageCosts costs;
  costs.least = Microseconds(12'345);
  EXPECT_EQ(ValueOrDie(RunInZones({graph, FirstNodes(2), costs}, network)),
            Microseconds(12'345));
}

// Rank 0 sends two messages to rank 1, the second when the first is there.
TEST(ZonedRunTest, AFlowMayNotWaitForAnotherOfItsSourceElsewhere) {
  FlowGraph::Builder builder(2);
  const ChunkId chunk = builder.AddChunk({0, 1000});
  const Flow flow = {
      .source = GroupRank(0), .target = GroupRank(1), .first_chunk = chunk};
  const FlowId first = builder.Add(flow);
  builder.AddDependency(first, builder.Add(flow));
  const std::shared_ptr<const FlowGraph> graph = std::move(builder).Build();
  const Topology mesh = FullMesh(2, "100Gbps", "700ns");
  ZonedPacketNetwork network = InZones(mesh, {}, 2);
  EXPECT_THAT(
      RunInZones({graph, FirstNodes(2), {}}, network),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "a message waits at its sender until another one is delivered"));
}

}  // namespace
}  // namespace astra
