#include "topology/next_hops.h"

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"
#include "topology/cluster.h"
#include "topology/templates/registry.h"

namespace astra {
namespace {

using ::astra::testing::Drawing;
using ::astra::testing::SharesByRule;
using ::astra::testing::SharesOf;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// All that a walk along next hops from `source` may pass.
std::set<LinkId> LinksOnTheWay(NextHops& next_hops, const Topology& topology,
                               NodeId source, NodeId target) {
  std::set<LinkId> links;
  std::vector<NodeId> open = {source};
  std::set<NodeId> met = {source};
  while (!open.empty()) {
    const NodeId at = open.back();
    open.pop_back();
    if (at == target) continue;
    EXPECT_TRUE(at == source || topology.kind(at) != NodeKind::kGpu);
    for (const LinkId link : next_hops.Find(at, target)) {
      EXPECT_EQ(topology.link(link).source, at);
      links.insert(link);
      const NodeId next = topology.link(link).target;
      if (met.insert(next).second) open.push_back(next);
    }
  }
  return links;
}

std::set<LinkId> LinksOf(const std::map<LinkId, double>& shares) {
  std::set<LinkId> links;
  for (const auto& [link, share] : shares) links.insert(link);
  return links;
}

using Case = std::tuple<TopologyTemplate, int64_t>;  // And the pods.

class NextHopsTemplateTest : public ::testing::TestWithParam<Case> {};

// Each pod has two segments, the second one server short.
TEST_P(NextHopsTemplateTest, LeadAlongTheLinksOfRoutes) {
  const auto& [chosen, pods] = GetParam();
  ClusterParameters p = ValueOrDie(chosen.defaults({}));
  p.nics_per_asw = p.rail_optimised ? 2 : 2 * p.gpus_per_server;
  if (p.num_rails != 0) p.nics_per_asw *= p.gpus_per_server / p.num_rails;
  p.num_psws = 4;
  p.num_pods = pods;
  p.num_gpus = pods * 3 * p.gpus_per_server;
  const Topology topology = ValueOrDie(BuildCluster(p));
  Routes routes(topology);
  NextHops next_hops(topology);

  // From every node, or every seventh of many, to all others.
  const uint32_t step = topology.num_nodes() > 150 ? 7 : 1;
  for (uint32_t i = 0; i < topology.num_nodes(); i += step) {
    for (uint32_t j = 0; j < topology.num_nodes(); ++j) {
      if (i == j) continue;
      std::set<LinkId> expected;
      if (const auto route = routes.FindNodes(NodeId(i), NodeId(j));
          route.ok()) {
        expected = LinksOf(SharesOf(routes, *route));
      }
      ASSERT_EQ(LinksOnTheWay(next_hops, topology, NodeId(i), NodeId(j)),
                expected)
          << "from " << i << " to " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, NextHopsTemplateTest,
    ::testing::Combine(::testing::ValuesIn(TopologyTemplates().begin(),
                                           TopologyTemplates().end()),
                       ::testing::Values(1, 2)),
    [](const auto& test) {
      std::string name(std::get<0>(test.param).name);
      std::erase_if(name, [](char c) { return !std::isalnum(c); });
      return fmt::format("{}{}", name, std::get<1>(test.param));
    });

// A random graph of up to 6 GPUs, 3 NVSwitches and 5 switches, some cables of
// which are down, in one direction or both. NVSwitches are linked to switches,
// too. Down cables are missing from the second topology, which need not exist.
struct Damaged {
  Topology topology;
  std::vector<LinkId> down;  // Both ways.
  Topology rest;
};

std::optional<Damaged> RandomDamage(std::mt19937_64& random) {
  const auto below = [&random](uint64_t n) {
    return static_cast<uint32_t>(random() % n);
  };
  const uint32_t num_gpus = 2 + below(5), num_nv = below(4), num_sw = below(6);
  TopologyBuilder whole(num_gpus, num_gpus, "H100");
  TopologyBuilder rest(num_gpus, num_gpus, "H100");
  for (uint32_t i = 0; i < num_nv + num_sw; ++i) {
    const NodeKind kind = i < num_nv ? NodeKind::kNvSwitch : NodeKind::kSwitch;
    whole.AddSwitch(kind);
    rest.AddSwitch(kind);
  }
  const LinkTypeId type = ValueOrDie(whole.AddLinkType("1Gbps", "1ns", "0"));
  std::ignore = ValueOrDie(rest.AddLinkType("1Gbps", "1ns", "0"));
  std::vector<LinkId> down;
  uint32_t num_links = 0;
  for (uint32_t a = 0; a < num_gpus + num_nv + num_sw; ++a) {
    for (uint32_t b = 0; b < a; ++b) {
      if (below(100) >= (a < num_gpus ? 10u : 45u)) continue;
      EXPECT_TRUE(whole.AddCable(NodeId(a), NodeId(b), type).ok());
      if (below(100) < 20) {
        down.push_back(LinkId(num_links));
        down.push_back(LinkId(num_links + 1));
      } else {
        EXPECT_TRUE(rest.AddCable(NodeId(a), NodeId(b), type).ok());
      }
      num_links += 2;
    }
  }
  absl::StatusOr<Topology> first = std::move(whole).Build();
  absl::StatusOr<Topology> second = std::move(rest).Build();
  if (!first.ok() || !second.ok() || down.empty()) return std::nullopt;
  return Damaged{*std::move(first), std::move(down), *std::move(second)};
}

std::set<std::pair<NodeId, NodeId>> Ends(const Topology& topology,
                                         const std::set<LinkId>& links) {
  std::set<std::pair<NodeId, NodeId>> ends;
  for (const LinkId link : links) {
    ends.emplace(topology.link(link).source, topology.link(link).target);
  }
  return ends;
}

TEST(NextHopsTest, WithLinksDownAreThoseOfATopologyWithoutThem) {
  std::mt19937_64 random(5);
  for (int count = 0; count < 200;) {
    const std::optional<Damaged> damaged = RandomDamage(random);
    if (!damaged) continue;
    SCOPED_TRACE(fmt::format("topology {}", count++));
    const Topology& topology = damaged->topology;
    NextHops next_hops(topology);
    const auto check = [&](const Topology& expected) {
      for (uint32_t i = 0; i < topology.num_nodes(); ++i) {
        for (uint32_t j = 0; j < topology.num_nodes(); ++j) {
          if (i == j) continue;
          ASSERT_EQ(Ends(topology, LinksOnTheWay(next_hops, topology, NodeId(i),
                                                 NodeId(j))),
                    Ends(expected, LinksOf(SharesByRule(expected, topology,
                                                        NodeId(i), NodeId(j)))))
              << "from " << i << " to " << j;
        }
      }
    };
    check(topology);
    for (const LinkId link : damaged->down) next_hops.SetLinkUp(link, false);
    check(damaged->rest);
    for (const LinkId link : damaged->down) next_hops.SetLinkUp(link, true);
    check(topology);
    if (HasFatalFailure()) return;
  }
}

// GPUs 0 and 1 below switches 2 and 3, with 4 and 5 above.
Topology TwoSpines() {
  return Drawing(2, 1, 0, 4)
      .Cables({{0, 2}, {1, 3}, {2, 4}, {2, 5}, {4, 3}, {5, 3}})
      .Build();
}

TEST(NextHopsTest, ALinkMayBeDownInOneDirection) {
  const Topology topology = TwoSpines();
  NextHops next_hops(topology);
  EXPECT_THAT(next_hops.Find(NodeId(2), NodeId(1)),
              ElementsAre(LinkId(4), LinkId(6)));
  next_hops.SetLinkUp(LinkId(8), false);  // From 4 to 3.
  EXPECT_THAT(next_hops.Find(NodeId(2), NodeId(1)), ElementsAre(LinkId(6)));
  EXPECT_THAT(next_hops.Find(NodeId(3), NodeId(0)),
              ElementsAre(LinkId(9), LinkId(11)));
}

TEST(NextHopsTest, NoPathLeadsOverALinkThatIsDown) {
  const Topology topology = TwoSpines();
  NextHops next_hops(topology);
  next_hops.SetLinkUp(LinkId(2), true);   // As it is.
  next_hops.SetLinkUp(LinkId(3), false);  // From switch 3 to GPU 1.
  std::vector<LinkId> path = {LinkId(7)};
  EXPECT_THAT(next_hops.Find(NodeId(0), NodeId(1)), IsEmpty());
  EXPECT_THAT(next_hops.Find(NodeId(2), NodeId(1)), IsEmpty());
  EXPECT_FALSE(next_hops.AppendEcmpPath(NodeId(0), NodeId(1), 1, &path));
  EXPECT_THAT(path, ElementsAre(LinkId(7)));
  EXPECT_TRUE(next_hops.AppendEcmpPath(NodeId(1), NodeId(0), 1, &path));
  EXPECT_EQ(path.size(), 5u);
}

// 8 paths of 8,000 keys: 1000 each, with a standard deviation of 30.
TEST(NextHopsTest, KeysSpreadEvenlyOverThePathsAndStayOnTheirs) {
  Drawing drawing(2, 1, 0, 10);
  drawing.Cable(0, 2).Cable(1, 3);
  for (uint32_t spine = 4; spine < 12; ++spine) {
    drawing.Cable(2, spine).Cable(spine, 3);
  }
  const Topology topology = drawing.Build();
  NextHops next_hops(topology);
  std::map<std::vector<LinkId>, int> counts;
  for (uint64_t key = 0; key < 8000; ++key) {
    std::vector<LinkId> path, again;
    ASSERT_TRUE(next_hops.AppendEcmpPath(NodeId(0), NodeId(1), key, &path));
    ASSERT_TRUE(next_hops.AppendEcmpPath(NodeId(0), NodeId(1), key, &again));
    ASSERT_EQ(path, again);
    ASSERT_EQ(path.size(), 4u);
    ++counts[path];
  }
  EXPECT_EQ(counts.size(), 8u);
  for (const auto& [path, count] : counts) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace
}  // namespace astra
