// The contract of every topology template in the registry, with one pod and
// with two: what it draws is connected, its links are symmetrical, its tiers
// are what --describe calls them, every rank reaches the others without losing
// a byte, and the file holds all of it.

#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"
#include "topology/cluster.h"
#include "topology/routes.h"
#include "topology/templates/registry.h"
#include "topology/topology_file.h"

namespace astra {
namespace {

using ::astra::testing::ExpectConservesFlow;
using ::astra::testing::ValueOrDie;

using Case = std::tuple<TopologyTemplate, int64_t>;  // And the pods.

class TemplateContractTest : public ::testing::TestWithParam<Case> {
 protected:
  // The template's own numbers, but few: each pod has two segments, the second
  // one server short.
  static ClusterParameters Parameters() {
    const auto& [chosen, pods] = GetParam();
    ClusterParameters p = ValueOrDie(chosen.defaults({}));
    p.nics_per_asw = p.rail_optimised ? 2 : 2 * p.gpus_per_server;
    if (p.num_rails != 0) p.nics_per_asw *= p.gpus_per_server / p.num_rails;
    p.num_psws = 4;
    p.num_pods = pods;
    p.num_gpus = pods * 3 * p.gpus_per_server;
    return p;
  }

  ClusterParameters parameters_ = Parameters();
  ClusterCounts counts_ = ValueOrDie(CountCluster(parameters_));
  Topology topology_ = ValueOrDie(BuildCluster(parameters_));
};

TEST_P(TemplateContractTest, DrawsWhatItCounts) {
  int64_t num_by_tier[4] = {};
  int64_t num_nv_switches = 0;
  for (uint32_t i = topology_.num_gpus(); i < topology_.num_nodes(); ++i) {
    if (topology_.kind(NodeId(i)) == NodeKind::kNvSwitch) {
      ++num_nv_switches;
    } else {
      ASSERT_LE(topology_.tier(NodeId(i)), 3);
      ++num_by_tier[topology_.tier(NodeId(i))];
    }
  }
  EXPECT_EQ(topology_.num_gpus(), parameters_.num_gpus);
  EXPECT_EQ(counts_.num_segments, 2 * parameters_.num_pods);
  EXPECT_EQ(num_nv_switches, counts_.num_nv_switches);
  EXPECT_EQ(num_by_tier[1], counts_.num_asws);
  EXPECT_EQ(num_by_tier[2], counts_.num_psws);
  EXPECT_EQ(num_by_tier[3], counts_.num_cores);
  EXPECT_EQ(counts_.num_cores > 0, parameters_.num_pods > 1);
}

TEST_P(TemplateContractTest, LinksAreSymmetrical) {
  for (uint32_t i = 0; i < topology_.links().size(); i += 2) {
    const Link& there = topology_.link(LinkId(i));
    const Link& back = topology_.link(LinkId(i + 1));
    ASSERT_EQ(there.source, back.target);
    ASSERT_EQ(there.target, back.source);
    ASSERT_EQ(there.type, back.type);
  }
}

TEST_P(TemplateContractTest, NoAswHasMoreNicsThanPorts) {
  for (uint32_t i = topology_.num_gpus(); i < topology_.num_nodes(); ++i) {
    if (topology_.tier(NodeId(i)) != 1) continue;
    int64_t num_nics = 0;
    for (const LinkId link : topology_.links_from(NodeId(i))) {
      const NodeId other = topology_.link(link).target;
      num_nics += topology_.kind(other) == NodeKind::kGpu ? 1 : 0;
    }
    EXPECT_LE(num_nics, parameters_.nics_per_asw) << "ASW " << i;
    EXPECT_GT(num_nics, 0) << "ASW " << i;
  }
}

TEST_P(TemplateContractTest, EveryRankReachesTheOthers) {
  Routes routes(topology_);
  const uint32_t n = topology_.num_gpus();
  const uint32_t per_server = topology_.gpus_per_server();
  for (uint32_t source = 0; source < n; ++source) {
    // A neighbour, the same and another rail of the next server, the far end.
    const std::set<uint32_t> targets = {
        (source + 1) % n, (source + per_server) % n,
        (source + per_server + 1) % n, n - 1 - source};
    for (const uint32_t target : targets) {
      if (target == source) continue;
      SCOPED_TRACE(fmt::format("from {} to {}", source, target));
      const Route route =
          ValueOrDie(routes.Find(RankId(source), RankId(target)));
      ExpectConservesFlow(routes, route, RankId(source), RankId(target));
      const bool is_local = source / per_server == target / per_server;
      EXPECT_EQ(route.num_hops == 2 && route.latency == Nanoseconds(50),
                is_local);
      if (HasFailure()) return;
    }
  }
}

TEST_P(TemplateContractTest, TheFileHoldsAllOfIt) {
  const std::string text = FormatTopology(topology_);
  const Topology read = ValueOrDie(ParseTopology("file", text));
  EXPECT_EQ(FormatTopology(read), text);
  EXPECT_EQ(read.num_gpus(), topology_.num_gpus());
  for (uint32_t i = 0; i < topology_.num_nodes(); ++i) {
    ASSERT_EQ(read.kind(NodeId(i)), topology_.kind(NodeId(i)));
    ASSERT_EQ(read.tier(NodeId(i)), topology_.tier(NodeId(i)));
  }
}

TEST_P(TemplateContractTest, ItsOwnSizeFitsItsPorts) {
  const TopologyTemplate& chosen = std::get<0>(GetParam());
  EXPECT_TRUE(CountCluster(ValueOrDie(chosen.defaults({}))).ok());
}

INSTANTIATE_TEST_SUITE_P(
    All, TemplateContractTest,
    ::testing::Combine(::testing::ValuesIn(TopologyTemplates().begin(),
                                           TopologyTemplates().end()),
                       ::testing::Values(1, 2)),
    [](const auto& test) {
      std::string name = fmt::format("{}_{}pods", std::get<0>(test.param).name,
                                     std::get<1>(test.param));
      for (char& c : name) c = c == '-' || c == '+' ? '_' : c;
      return name;
    });

}  // namespace
}  // namespace astra
