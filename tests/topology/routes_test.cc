#include "topology/routes.h"

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"
#include "topology/cluster.h"

namespace astra {
namespace {

using ::astra::testing::Drawing;
using ::astra::testing::ExpectConservesFlow;
using ::astra::testing::SharesByRule;
using ::astra::testing::SharesOf;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

Route Find(Routes& routes, uint32_t source, uint32_t target) {
  return ValueOrDie(routes.Find(RankId(source), RankId(target)));
}

// What one unit puts on each link, as "from>to share", by the ids of nodes.
std::vector<std::string> LinksOf(const Routes& routes, const Route& route) {
  std::map<std::pair<uint32_t, uint32_t>, double> by_ends;
  const Topology& topology = routes.topology();
  for (const auto& [link, share] : SharesOf(routes, route)) {
    by_ends[{topology.link(link).source.index(),
             topology.link(link).target.index()}] = share;
  }
  std::vector<std::string> text;
  for (const auto& [ends, share] : by_ends) {
    text.push_back(fmt::format("{}>{} {:g}", ends.first, ends.second, share));
  }
  return text;
}

std::vector<std::string> Links(Routes& routes, uint32_t source,
                               uint32_t target) {
  return LinksOf(routes, Find(routes, source, target));
}

// Two servers of two GPUs on two rails, a segment each, and two PSWs:
//
//   GPUs 0 1 | 2 3   NVSwitches 4 | 5   ASWs 6 7 | 8 9   PSWs 10 11
//
// GPU 0 is below ASW 6, 1 below 7, 2 below 8, 3 below 9. NVLink is 2880 Gbps
// and 25 ns, all else 500 ns, NICs 400 Gbps.
ClusterParameters TwoRails() {
  ClusterParameters p;
  p.num_gpus = 4;
  p.gpus_per_server = 2;
  p.rail_optimised = true;
  p.nics_per_asw = 1;
  p.num_psws = 2;
  return p;
}

TEST(RoutesTest, StayInTheServerOnItsNvSwitch) {
  const Topology topology = ValueOrDie(BuildCluster(TwoRails()));
  Routes routes(topology);
  const Route route = Find(routes, 0, 1);

  EXPECT_THAT(Links(routes, 0, 1), ElementsAre("0>4 1", "4>1 1"));
  EXPECT_EQ(route.num_hops, 2u);
  EXPECT_EQ(route.latency, Nanoseconds(50));
  EXPECT_EQ(routes.BottleneckBandwidth(route), Gbps(2880));
}

TEST(RoutesTest, SpreadEvenlyOverThePsws) {
  const Topology topology = ValueOrDie(BuildCluster(TwoRails()));
  Routes routes(topology);

  EXPECT_THAT(Links(routes, 0, 2),
              ElementsAre("0>6 1", "6>10 0.5", "6>11 0.5", "8>2 1", "10>8 0.5",
                          "11>8 0.5"));
  const Route across_rails = Find(routes, 0, 3);
  EXPECT_EQ(across_rails.num_hops, 4u);
  EXPECT_EQ(across_rails.latency, Nanoseconds(4 * 500));
}

// Half of a message crosses each of two links of 150 Gbps: 300 Gbps in all,
// less than the NIC's 400. With links of 250 Gbps the NIC is the bottleneck.
TEST(RoutesTest, TheBottleneckCountsWhatEachLinkCarries) {
  ClusterParameters p = TwoRails();
  p.asw_psw_bandwidth = "150Gbps";
  const Topology slow = ValueOrDie(BuildCluster(p));
  Routes slow_routes(slow);
  EXPECT_EQ(slow_routes.BottleneckBandwidth(Find(slow_routes, 0, 2)),
            Gbps(300));

  p.asw_psw_bandwidth = "250Gbps";
  const Topology fast = ValueOrDie(BuildCluster(p));
  Routes fast_routes(fast);
  EXPECT_EQ(fast_routes.BottleneckBandwidth(Find(fast_routes, 0, 2)),
            Gbps(400));
}

// Two planes with a PSW of 75 Gbps ports each: half of a message crosses each.
TEST(RoutesTest, TheBottleneckCountsWhatEachPlaneCarries) {
  ClusterParameters p = TwoRails();
  p.dual_tor = true;
  p.dual_plane = true;
  p.asw_psw_bandwidth = "75Gbps";
  const Topology topology = ValueOrDie(BuildCluster(p));
  Routes routes(topology);
  EXPECT_EQ(routes.BottleneckBandwidth(Find(routes, 0, 2)), Gbps(150));
}

// GPUs 0 and 1 are two links apart by NVSwitch 2 and by switch 3 alike.
TEST(RoutesTest, PreferTheNvSwitchOfTwoEqualWays) {
  const Topology topology =
      Drawing(2, 2, 1, 1).Cables({{0, 3}, {1, 3}, {0, 2}, {1, 2}}).Build();
  Routes routes(topology);
  EXPECT_THAT(Links(routes, 0, 1), ElementsAre("0>2 1", "2>1 1"));
  EXPECT_THAT(Links(routes, 1, 0), ElementsAre("1>2 1", "2>0 1"));
}

// The same where the two switches are linked with each other.
TEST(RoutesTest, PreferTheNvSwitchThatIsLinkedToTheOtherSwitch) {
  const Topology topology =
      Drawing(2, 2, 1, 1)
          .Cables({{0, 3}, {1, 3}, {0, 2}, {1, 2}, {2, 3}})
          .Build();
  Routes routes(topology);
  EXPECT_THAT(Links(routes, 0, 1), ElementsAre("0>2 1", "2>1 1"));
}

// A shorter way does not count: GPUs 0 and 1 share switch 4, while NVSwitches 2
// and 3 are a link apart.
TEST(RoutesTest, TakeNvSwitchesOfSeveralLevelsBeforeFewerLinks) {
  const Topology topology =
      Drawing(2, 2, 2, 1)
          .Cables({{0, 2}, {1, 3}, {2, 3}, {0, 4}, {1, 4}})
          .Build();
  Routes routes(topology);
  EXPECT_THAT(Links(routes, 0, 1), ElementsAre("0>2 1", "2>3 1", "3>1 1"));
}

// Where NVSwitches are linked to other switches, links count first.
TEST(RoutesTest, TakeTheFewestLinksThroughMixedFabrics) {
  const Topology topology =
      Drawing(2, 2, 2, 1)
          .Cables({{0, 2}, {1, 3}, {2, 3}, {0, 4}, {1, 4}, {2, 4}})
          .Build();
  Routes routes(topology);
  EXPECT_THAT(Links(routes, 0, 1), ElementsAre("0>4 1", "4>1 1"));
}

TEST(RoutesTest, SpreadOver18NvSwitches) {
  constexpr uint32_t kNumGpus = 4, kNumNvSwitches = 18;
  Drawing drawing(kNumGpus, kNumGpus, kNumNvSwitches, 0);
  for (uint32_t gpu = 0; gpu < kNumGpus; ++gpu) {
    for (uint32_t i = 0; i < kNumNvSwitches; ++i) {
      drawing.Cable(gpu, kNumGpus + i, "400Gbps", "25ns");
    }
  }
  const Topology topology = drawing.Build();
  Routes routes(topology);
  const Route route = Find(routes, 1, 3);

  EXPECT_EQ(SharesOf(routes, route).size(), 36u);
  for (const auto& [link, share] : SharesOf(routes, route)) {
    EXPECT_DOUBLE_EQ(share, 1.0 / 18) << topology.LinkName(link);
  }
  EXPECT_EQ(route.num_hops, 2u);
  EXPECT_EQ(routes.BottleneckBandwidth(route), Gbps(18 * 400));
}

// GPUs 0 1 | 2 3, NVSwitches 4 | 5, ASWs 6 (plane 1) and 7 (plane 2), PSW 8.
TEST(RoutesTest, UseBothToRsOfADualToR) {
  ClusterParameters p;
  p.num_gpus = 4;
  p.gpus_per_server = 2;
  p.dual_tor = true;
  p.num_psws = 1;
  p.bandwidth = "200Gbps";
  const Topology topology = ValueOrDie(BuildCluster(p));
  Routes routes(topology);

  EXPECT_THAT(Links(routes, 0, 2),
              ElementsAre("0>6 0.5", "0>7 0.5", "6>2 0.5", "7>2 0.5"));
  EXPECT_EQ(routes.BottleneckBandwidth(Find(routes, 0, 2)), Gbps(400));
}

// GPU 0 is below ASWs 2 and 3, GPU 1 only below 2; switch 4 is above both.
TEST(RoutesTest, LeaveOutTheToRThatIsFurtherAway) {
  const Topology topology =
      Drawing(2, 1, 0, 3)
          .Cables({{0, 2}, {0, 3}, {1, 2}, {2, 4}, {3, 4}})
          .Build();
  Routes routes(topology);
  EXPECT_THAT(Links(routes, 0, 1), ElementsAre("0>2 1", "2>1 1"));
  EXPECT_THAT(Links(routes, 1, 0), ElementsAre("1>2 1", "2>0 1"));
}

// What meets at a switch goes on together: switch 6 gets a half and a quarter.
TEST(RoutesTest, SplitAnewAtEachSwitch) {
  //  0 - 2 - 4 - 6 - 1     2 has one way up, 3 has two; 4 and 5 are above.
  //   \- 3 - 4
  //       \- 5 - 6
  const Topology topology =
      Drawing(2, 1, 0, 5)
          .Cables(
              {{0, 2}, {0, 3}, {2, 4}, {3, 4}, {3, 5}, {4, 6}, {5, 6}, {6, 1}})
          .Build();
  Routes routes(topology);
  EXPECT_THAT(Links(routes, 0, 1),
              ElementsAre("0>2 0.5", "0>3 0.5", "2>4 0.5", "3>4 0.25",
                          "3>5 0.25", "4>6 0.75", "5>6 0.25", "6>1 1"));
}

TEST(RoutesTest, TakeTheLinkBetweenTwoGpus) {
  const Topology topology = Drawing(2, 2, 1, 0)
                                .Cables({{0, 2}, {1, 2}})
                                .Cable(1, 0, "100Gbps", "10ns")
                                .Build();
  Routes routes(topology);
  EXPECT_THAT(Links(routes, 0, 1), ElementsAre("0>1 1"));
  EXPECT_THAT(Links(routes, 1, 0), ElementsAre("1>0 1"));
  const Route route = Find(routes, 0, 1);
  EXPECT_EQ(route.num_hops, 1u);
  EXPECT_EQ(route.latency, Nanoseconds(10));
  EXPECT_EQ(routes.BottleneckBandwidth(route), Gbps(100));
}

TEST(RoutesTest, GpusDoNotForward) {
  const Topology chain = Drawing(3, 1, 0, 0).Cables({{0, 1}, {1, 2}}).Build();
  Routes routes(chain);
  EXPECT_THAT(
      routes.Find(RankId(0), RankId(2)),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "no path leads from GPU 0 to GPU 2 without passing through "
               "another GPU"));
  EXPECT_THAT(Links(routes, 2, 1), ElementsAre("2>1 1"));
}

// Without PSWs rails meet only in servers, and NVLink does not reach others.
TEST(RoutesTest, GpusDoNotForwardBetweenRails) {
  ClusterParameters p = TwoRails();
  p.num_psws = 0;
  p.nics_per_asw = 64;  // One segment, so that a rail has one ASW.
  const Topology topology = ValueOrDie(BuildCluster(p));
  Routes routes(topology);
  EXPECT_EQ(Find(routes, 0, 2).num_hops, 2u);
  EXPECT_THAT(routes.Find(RankId(0), RankId(3)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "no path leads from GPU 0 to GPU 3 without passing "
                       "through another GPU"));
}

// A detour through a GPU is shorter than the way through switches.
TEST(RoutesTest, GpusDoNotForwardThoughItWereShorter) {
  const Topology topology =
      Drawing(3, 1, 0, 3)
          .Cables({{0, 1}, {1, 2}, {0, 3}, {3, 4}, {4, 5}, {5, 2}})
          .Build();
  Routes routes(topology);
  EXPECT_EQ(Find(routes, 0, 2).num_hops, 4u);
}

// Via switch 2 a message takes 1 us + 0, via switch 3 it takes 0 + 1 us.
TEST(RoutesTest, TheLatencyIsThatOfOnePath) {
  const Topology topology = Drawing(2, 1, 0, 2)
                                .Cable(0, 2, "400Gbps", "1us")
                                .Cable(1, 2, "400Gbps", "0ns")
                                .Cable(0, 3, "400Gbps", "0ns")
                                .Cable(1, 3, "400Gbps", "1us")
                                .Build();
  Routes routes(topology);
  EXPECT_EQ(Find(routes, 0, 1).latency, Microseconds(1));
}

TEST(RoutesTest, TheLatencyIsThatOfTheSlowestPath) {
  const Topology topology = Drawing(2, 1, 0, 4)
                                .Cables({{0, 2}, {2, 4}, {3, 5}, {4, 5}})
                                .Cable(2, 3, "400Gbps", "700ns")
                                .Cables({{5, 1}})
                                .Build();
  // 0-2-4-5-1 and 0-2-3-5-1: the latter takes 200 ns more.
  Routes routes(topology);
  EXPECT_EQ(Find(routes, 0, 1).num_hops, 4u);
  EXPECT_EQ(Find(routes, 0, 1).latency, Nanoseconds(3 * 500 + 700));
}

TEST(RoutesTest, GpusBelowTheSameSwitchesShareTheWayBetweenThem) {
  ClusterParameters p;
  p.num_gpus = 32;
  p.nv_switches_per_server = 0;
  p.nics_per_asw = 16;  // Two ASWs.
  p.num_psws = 4;
  const Topology topology = ValueOrDie(BuildCluster(p));
  Routes routes(topology);
  for (uint32_t source = 0; source < 32; ++source) {
    for (uint32_t target = 0; target < 32; ++target) {
      if (source != target) Find(routes, source, target);
    }
  }
  EXPECT_EQ(routes.num_fabric_routes(), 4u);  // Of two ASWs to two ASWs.
}

// 70,000 GPUs, 8,750 NVSwitches, 137 ASWs, 2 PSWs: SimAI keeps node ids in 16
// bits in places.
TEST(RoutesTest, ReachNodesBeyond65536) {
  ClusterParameters p;
  p.num_gpus = 70'000;
  p.nics_per_asw = 512;
  p.num_psws = 2;
  p.asws_per_psw = 200;
  const Topology topology = ValueOrDie(BuildCluster(p));
  ASSERT_EQ(topology.num_nodes(), 78'889u);
  Routes routes(topology);

  // ASWs 78,750 and 78,886; PSWs 78,887 and 78,888.
  EXPECT_THAT(
      Links(routes, 0, 69'999),
      ElementsAre("0>78750 1", "78750>78887 0.5", "78750>78888 0.5",
                  "78886>69999 1", "78887>78886 0.5", "78888>78886 0.5"));
  // 65,536 + 1 and 1 are different GPUs.
  EXPECT_EQ(Find(routes, 0, 1).num_hops, 2u);
  EXPECT_EQ(Find(routes, 0, 65'537).num_hops, 4u);
}

// Two pods of two segments of one server of two GPUs; 4 ASWs, 2 PSWs per pod;
// a core for each PSW's port up: 2 x 4 = 8 in two groups.
TEST(RoutesTest, CrossTheCoresBetweenPods) {
  ClusterParameters p = TwoRails();
  p.num_gpus = 8;
  p.num_pods = 2;
  const Topology topology = ValueOrDie(BuildCluster(p));
  Routes routes(topology);
  const Route route = Find(routes, 0, 4);

  EXPECT_EQ(route.num_hops, 6u);
  EXPECT_EQ(route.latency, Nanoseconds(6 * 500));
  ExpectConservesFlow(routes, route, RankId(0), RankId(4));
  // NIC 1 + 1; ASW-PSW 2 + 2; PSW-core 2 x 4 each way.
  EXPECT_EQ(SharesOf(routes, route).size(), 2u + 4u + 16u);
  EXPECT_EQ(routes.BottleneckBandwidth(route), Gbps(400));
}

// What goes to or comes from a switch takes the same shortest ways.
//
//   GPUs 0 1 | 2 3   NVSwitches 4 | 5   ASWs 6 7 | 8 9   PSWs 10 11
TEST(RoutesTest, LeadToSwitchesAndFromThem) {
  const Topology topology = ValueOrDie(BuildCluster(TwoRails()));
  Routes routes(topology);
  const auto links = [&](uint32_t source, uint32_t target) {
    const Route route =
        ValueOrDie(routes.FindNodes(NodeId(source), NodeId(target)));
    return LinksOf(routes, route);
  };
  EXPECT_THAT(links(0, 4), ElementsAre("0>4 1"));
  EXPECT_THAT(links(4, 1), ElementsAre("4>1 1"));
  EXPECT_THAT(links(6, 10), ElementsAre("6>10 1"));
  EXPECT_THAT(links(0, 10), ElementsAre("0>6 1", "6>10 1"));
  EXPECT_THAT(links(11, 3), ElementsAre("9>3 1", "11>9 1"));
  EXPECT_THAT(links(6, 8),
              ElementsAre("6>10 0.5", "6>11 0.5", "10>8 0.5", "11>8 0.5"));

  const Route across = ValueOrDie(routes.FindNodes(NodeId(6), NodeId(3)));
  EXPECT_EQ(across.num_hops, 3u);
  EXPECT_EQ(across.latency, Nanoseconds(3 * 500));
  EXPECT_EQ(routes.FirstLinks(across).size(), 2u);  // To both PSWs.
  EXPECT_EQ(routes.BottleneckBandwidth(across), Gbps(400));

  EXPECT_THAT(routes.FindNodes(NodeId(4), NodeId(2)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "no path leads from NVSwitch 4 to GPU 2 without "
                       "passing through another GPU"));
}

// A random graph of up to 8 GPUs, 4 NVSwitches and 6 switches, or none where
// its parts are not connected. NVSwitches are linked to GPUs only.
std::optional<Topology> RandomTopology(std::mt19937_64& random) {
  const auto below = [&random](uint64_t n) {
    return static_cast<uint32_t>(random() % n);
  };
  const uint32_t per_server = 1 + below(4);
  const uint32_t num_servers = 1 + below(2) + (per_server == 1 ? 1 : 0);
  const uint32_t num_gpus = per_server * num_servers;
  const uint32_t nv_per_server = below(3);
  const uint32_t num_nv = nv_per_server * num_servers;
  const uint32_t num_switches = below(7);

  TopologyBuilder builder(num_gpus, per_server, "H100");
  for (uint32_t i = 0; i < num_nv; ++i) builder.AddSwitch(NodeKind::kNvSwitch);
  for (uint32_t i = 0; i < num_switches; ++i) {
    builder.AddSwitch(NodeKind::kSwitch);
  }
  const LinkTypeId type =
      ValueOrDie(builder.AddLinkType("400Gbps", "500ns", "0"));
  const auto maybe_cable = [&](uint32_t a, uint32_t b, uint32_t percent) {
    if (below(100) >= percent) return;
    EXPECT_TRUE(builder.AddCable(NodeId(a), NodeId(b), type).ok());
  };
  for (uint32_t gpu = 0; gpu < num_gpus; ++gpu) {
    for (uint32_t other = 0; other < gpu; ++other) maybe_cable(gpu, other, 10);
    for (uint32_t i = 0; i < nv_per_server; ++i) {
      maybe_cable(gpu, num_gpus + gpu / per_server * nv_per_server + i, 80);
    }
    for (uint32_t i = 0; i < num_switches; ++i) {
      maybe_cable(gpu, num_gpus + num_nv + i, 30);
    }
  }
  for (uint32_t a = 0; a < num_switches; ++a) {
    for (uint32_t b = 0; b < a; ++b) {
      maybe_cable(num_gpus + num_nv + a, num_gpus + num_nv + b, 40);
    }
  }
  absl::StatusOr<Topology> topology = std::move(builder).Build();
  if (!topology.ok()) return std::nullopt;
  return *std::move(topology);
}

// Cores of three pods, which are bundles of four, and PSWs of one pod, a bundle
// of three. Nodes of a bundle are sources and targets as well.
TEST(RoutesTest, AreThoseOfASearchAlsoThroughBundles) {
  ClusterParameters p = TwoRails();
  p.num_gpus = 12;
  p.num_pods = 3;
  ClusterParameters one_pod = TwoRails();
  one_pod.num_gpus = 8;
  one_pod.num_psws = 3;
  one_pod.dual_tor = true;
  for (const ClusterParameters& each : {p, one_pod}) {
    const Topology topology = ValueOrDie(BuildCluster(each));
    Routes routes(topology);
    for (uint32_t i = 0; i < topology.num_nodes(); ++i) {
      for (uint32_t j = 0; j < topology.num_nodes(); ++j) {
        if (i == j) continue;
        SCOPED_TRACE(fmt::format("from {} to {}", i, j));
        const std::map<LinkId, double> expected =
            SharesByRule(topology, topology, NodeId(i), NodeId(j));
        const absl::StatusOr<Route> route =
            routes.FindNodes(NodeId(i), NodeId(j));
        ASSERT_EQ(route.ok(), !expected.empty());
        if (!route.ok()) continue;
        const std::map<LinkId, double> shares = SharesOf(routes, *route);
        ASSERT_EQ(shares.size(), expected.size());
        for (const auto& [link, share] : expected) {
          ASSERT_EQ(shares.count(link), 1u) << topology.LinkName(link);
          ASSERT_NEAR(shares.at(link), share, 1e-12) << topology.LinkName(link);
        }
      }
    }
  }
}

// From two ASWs over 16 PSWs and 16 cores of each to two ASWs of another pod:
// what is kept of a route does not grow with the cores of a PSW.
TEST(RoutesTest, KeepLinksToABundleOnce) {
  ClusterParameters p;
  p.num_gpus = 64;
  p.nv_switches_per_server = 0;
  p.nics_per_asw = 16;
  p.dual_tor = true;
  p.num_psws = 16;
  p.num_pods = 2;
  p.num_cores = 256;
  const Topology topology = ValueOrDie(BuildCluster(p));
  Routes routes(topology);
  const Route route = Find(routes, 0, 32);
  const FabricRoute& fabric = routes.fabric_route(route.parts[0].fabric);
  EXPECT_EQ(SharesOf(routes, route).size(), 2u + 32 + 256 + 256 + 32 + 2);
  EXPECT_EQ(fabric.links.size(), 32u + 16 + 16 + 32);
}

TEST(RoutesTest, AreThoseOfASearchFromFirstPrinciples) {
  std::mt19937_64 random(11);
  int num_topologies = 0, num_routes = 0, num_errors = 0;
  while (num_topologies < 300) {
    const std::optional<Topology> topology = RandomTopology(random);
    if (!topology) continue;
    SCOPED_TRACE(fmt::format("topology {}", num_topologies++));
    Routes routes(*topology);
    for (uint32_t i = 0; i < topology->num_nodes(); ++i) {
      for (uint32_t j = 0; j < topology->num_nodes(); ++j) {
        if (i == j) continue;
        SCOPED_TRACE(fmt::format("from {} to {}", i, j));
        const std::map<LinkId, double> expected =
            SharesByRule(*topology, *topology, NodeId(i), NodeId(j));
        const absl::StatusOr<Route> route =
            routes.FindNodes(NodeId(i), NodeId(j));
        if (expected.empty()) {
          ASSERT_FALSE(route.ok());
          ++num_errors;
          continue;
        }
        ASSERT_TRUE(route.ok()) << route.status();
        ++num_routes;
        const std::map<LinkId, double> shares = SharesOf(routes, *route);
        ASSERT_EQ(shares.size(), expected.size());
        for (const auto& [link, share] : expected) {
          ASSERT_EQ(shares.count(link), 1u) << topology->LinkName(link);
          ASSERT_NEAR(shares.at(link), share, 1e-12)
              << topology->LinkName(link);
        }
        ExpectConservesFlow(routes, *route, NodeId(i), NodeId(j));
        EXPECT_EQ(route->latency, route->num_hops * Nanoseconds(500));
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(num_routes, 1000);  // The draw was worth it.
  EXPECT_GT(num_errors, 10);
}

}  // namespace
}  // namespace astra
