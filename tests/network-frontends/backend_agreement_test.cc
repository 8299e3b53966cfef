// Where nothing collides, all networks say the same: what the slowest link of
// its path takes for what a message puts on the wire. Where something does, the
// network of flows says what that of packets does.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/engine/flow_run.h"
#include "collectives/group_layout.h"
#include "collectives/registry.h"
#include "network-frontends/registry/registry.h"
#include "tests/testing/matchers.h"
#include "topology/templates/registry.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;

constexpr CollectiveKind kKind = CollectiveKind::kAllReduce;

// Spectrum-X: servers of `per_server` GPUs, each with a NIC of 400 Gbps on its
// rail.
Topology SpectrumX(uint32_t num_servers, uint32_t per_server) {
  ClusterParameters parameters =
      ValueOrDie(SpectrumXTemplate().defaults({.gpus_per_server = per_server}));
  parameters.num_gpus = int64_t{num_servers} * per_server;
  parameters.gpus_per_server = per_server;
  return ValueOrDie(BuildCluster(parameters));
}

std::vector<RankId> AllRanks(const Topology& topology) {
  std::vector<RankId> ranks;
  for (uint32_t i = 0; i < topology.num_gpus(); ++i) ranks.push_back(RankId(i));
  return ranks;
}

// Microseconds, over `ranks`, on the network `backend` as it is where nobody
// asks for anything else.
double RingAllReduce(const Topology& topology, const std::vector<RankId>& ranks,
                     Bytes bytes, std::string_view backend) {
  const auto layout =
      std::make_shared<GroupLayout>(GroupLayout::Of(ranks, topology));
  const std::vector<NodeId> nodes = MemberNodes(ranks, *layout, topology);
  const CollectiveRequest request =
      ValueOrDie(CollectiveRequest::Create(kKind, bytes, layout));
  const CollectiveAlgorithm ring =
      ValueOrDie(FindCollectiveAlgorithm(kKind, "ring"));
  const std::shared_ptr<const FlowGraph> graph =
      ValueOrDie(ring.lower(request));
  const NetworkOptions options;
  Routes routes(topology);
  const std::unique_ptr<NetworkBackend> network =
      ValueOrDie(FindBackend(backend))->make(options, routes);
  return ToMicroseconds(ValueOrDie(RunFlowGraph(
      graph, absl::MakeConstSpan(nodes).first(graph->num_members()),
      *network)));
}

struct Cluster {
  uint32_t num_servers;
  uint32_t per_server;
};

// What sets them apart is what is on the wire, where a full packet has 4096 B:
// the analytical network has nothing else there; that of flows has the headers,
// 82 B a packet; that of packets has the acknowledgements, too, 86 B each. In a
// ring they take the links of the data that the other neighbour is sent.
TEST(BackendAgreementTest, BackendsAgreeOnLargeUncongestedRings) {
  constexpr Bytes kBytes = MiB(8);
  for (const auto& [num_servers, per_server] :
       {Cluster{1, 8}, Cluster{2, 2}, Cluster{4, 2}}) {
    SCOPED_TRACE(fmt::format("{} servers of {}", num_servers, per_server));
    const Topology topology = SpectrumX(num_servers, per_server);
    const std::vector<RankId> ranks = AllRanks(topology);
    const double analytical =
        RingAllReduce(topology, ranks, kBytes, "analytical");
    const double flow = RingAllReduce(topology, ranks, kBytes, "flow");
    const double packet = RingAllReduce(topology, ranks, kBytes, "packet");
    EXPECT_NEAR(flow / analytical, (4096 + 82) / 4096.0, 0.005);
    EXPECT_NEAR(packet / analytical, (4096 + 82 + 86) / 4096.0, 0.005);
  }
}

// Eight GPUs below two switches, which four others connect: the ring goes from
// one side to the other with every hop, and ECMP sends some of the eight
// messages through one link. Both networks choose the same paths.
TEST(BackendAgreementTest, FlowsAndPacketsCollideOnTheSameLinks) {
  ClusterParameters parameters = ValueOrDie(DcnPlusTemplate().defaults({}));
  parameters.num_gpus = 8;
  parameters.gpus_per_server = 1;
  parameters.nics_per_asw = 4;
  parameters.num_psws = 4;
  const Topology topology = ValueOrDie(BuildCluster(parameters));
  std::vector<RankId> ranks;
  for (uint32_t i = 0; i < 8; ++i) ranks.push_back(RankId(i % 2 * 4 + i / 2));
  const double analytical =
      RingAllReduce(topology, ranks, MiB(4), "analytical");
  const double flow = RingAllReduce(topology, ranks, MiB(4), "flow");
  const double packet = RingAllReduce(topology, ranks, MiB(4), "packet");
  EXPECT_GT(flow / analytical, 1.5);
  EXPECT_NEAR(packet / flow, 1, 0.05);
}

}  // namespace
}  // namespace astra
