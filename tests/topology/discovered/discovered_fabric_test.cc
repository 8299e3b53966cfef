// Discovered fabrics: one that we draw and write as ibnetdiscover prints it is
// read as the same graph; and what is told of hosts and of slow ports.

#include "topology/discovered/discovered_fabric.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "fmt/core.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/server_types.h"
#include "tests/testing/topologies.h"
#include "topology/fabrics/fabric_file.h"
#include "topology/routes.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

FabricSpec Spec(const std::string& text) {
  Warnings warnings;
  return ValueOrDie(ParseFabric("f", "simai_fabric: 1\n" + text,
                                SmallServerTypes(), &warnings));
}

// Writes a topology as ibnetdiscover prints it: adapters of one port, the last
// server first, then switches by number.
class FabricText {
 public:
  explicit FabricText(const Topology& topology) : topology_(topology) {}

  std::string Write() {
    for (uint32_t gpu = topology_.num_gpus(); gpu-- > 0;) {
      uint32_t nic = 0;
      for (const LinkId link : topology_.links_from(NodeId(gpu))) {
        const NodeId leaf = topology_.link(link).target;
        if (topology_.kind(leaf) != NodeKind::kSwitch) continue;
        const std::string name =
            fmt::format("node{} mlx5_{}", gpu / topology_.gpus_per_server(),
                        gpu % topology_.gpus_per_server() * 10 + nic);
        const std::string id = fmt::format("H-{:08x}{:08x}", gpu, ++nic);
        names_[Reverse(link).index()] = name;
        text_ += fmt::format(
            "\nvendid=0x2c9\ncaguid=0x{}\nCa\t1 \"{}\"\t\t# "
            "\"{}\"\n[1](0) \t\"{}\"[{}]\t\t# lid 1 lmc 0 "
            "\"s\" lid 2 {}\n",
            gpu, id, name, SwitchId(leaf), PortOf(Reverse(link)), Speed(link));
        adapters_[Reverse(link).index()] = id;
      }
    }
    for (uint32_t i = topology_.num_gpus(); i < topology_.num_nodes(); ++i) {
      if (topology_.kind(NodeId(i)) == NodeKind::kSwitch)
        WriteSwitch(NodeId(i));
    }
    return text_;
  }

 private:
  static std::string SwitchId(NodeId node) {
    return fmt::format("S-{:016x}", node.index());
  }

  // Ports of a switch are numbered as its links are.
  size_t PortOf(LinkId link) const {
    const auto links = topology_.links_from(topology_.link(link).source);
    return static_cast<size_t>(std::find(links.begin(), links.end(), link) -
                               links.begin()) +
           1;
  }

  std::string Speed(LinkId link) const {
    const std::map<double, std::string> speeds = {
        {100, "4xEDR"}, {200, "4xHDR"}, {400, "4xNDR"}, {800, "4xXDR"}};
    return speeds.at(ToGbps(topology_.type(link).bandwidth));
  }

  void WriteSwitch(NodeId node) {
    text_ += fmt::format(
        "\nswitchguid=0x1(1)\nSwitch\t64 \"{}\"\t\t# \"switch {}\" enhanced "
        "port 0 lid 1 lmc 0\n",
        SwitchId(node), node.index());
    for (const LinkId link : topology_.links_from(node)) {
      const NodeId peer = topology_.link(link).target;
      const bool is_switch = topology_.kind(peer) == NodeKind::kSwitch;
      text_ += fmt::format(
          "[{}]\t\"{}\"[{}]{}\t\t# \"{}\" lid 3 {}\n", PortOf(link),
          is_switch ? SwitchId(peer) : adapters_[link.index()],
          is_switch ? PortOf(Reverse(link)) : 1, is_switch ? "" : "(ab) ",
          is_switch ? "switch" : names_[link.index()], Speed(link));
    }
  }

  const Topology& topology_;
  std::string text_;
  std::map<uint32_t, std::string> adapters_;  // By link to the adapter.
  std::map<uint32_t, std::string> names_;
};

// Cables by their ends, the lower first, and make; switches have the number
// that they get when they are sorted by tier.
using Cables = std::vector<std::tuple<uint32_t, uint32_t, std::string>>;

Cables CablesByTier(const Topology& topology) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < topology.num_nodes(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return topology.tier(NodeId(a)) < topology.tier(NodeId(b));
  });
  std::vector<uint32_t> number(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;
  Cables cables;
  for (size_t i = 0; i < topology.links().size(); i += 2) {
    const Link& link = topology.links()[i];
    const auto [low, high] =
        std::minmax({number[link.source.index()], number[link.target.index()]});
    cables.emplace_back(low, high,
                        topology.link_types()[link.type.index()].text);
  }
  std::sort(cables.begin(), cables.end());
  return cables;
}

struct Drawn {
  Topology topology;
  Warnings warnings;
};

Drawn Draw(const std::string& text, ServerType type,
           const std::vector<std::string>& names = {}) {
  Warnings warnings;
  const IbFabric fabric = ValueOrDie(ParseIbnetdiscover("t", text));
  std::vector<FabricHost> hosts = FindHosts("t", fabric, &warnings);
  if (!names.empty()) hosts = ValueOrDie(ChooseHosts(hosts, names));
  AddNicsOfMostHosts(hosts, &type.server);
  hosts = ValueOrDie(
      MatchNics(hosts, type, !names.empty(), "t", fabric, &warnings));
  Topology topology = ValueOrDie(DrawDiscoveredFabric(
      "t", fabric, hosts, type.server, {"", "500ns", "0"}, &warnings));
  return {std::move(topology), std::move(warnings)};
}

class RoundTripTest : public ::testing::TestWithParam<std::string> {};

TEST_P(RoundTripTest, AWrittenFabricIsTheSameGraph) {
  const FabricSpec spec = Spec(GetParam());
  const Topology topology = ValueOrDie(DrawFabric(spec));
  ServerType type;
  type.name = "type";
  type.server = spec.servers;
  type.server.nics.clear();
  const Drawn read = Draw(FabricText(topology).Write(), type);
  EXPECT_THAT(read.warnings, IsEmpty());
  EXPECT_EQ(read.topology.num_nodes(), topology.num_nodes());
  EXPECT_EQ(CablesByTier(read.topology), CablesByTier(topology));
  Routes routes(read.topology);
  for (uint32_t rank = 1; rank < topology.num_gpus(); ++rank) {
    const Route route = ValueOrDie(routes.Find(RankId(0), RankId(rank)));
    ExpectConservesFlow(routes, route, RankId(0), RankId(rank));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, RoundTripTest,
    ::testing::Values(
        "servers: {count: 16, gpus: 1}\n"
        "fabric: {kind: fat-tree, tiers: [{down: 2}, {down: 2}, {down: 4}]}\n",
        "servers: {count: 12, gpus: 4}\n"
        "fabric: {kind: fat-tree, rails: true, tiers: [{down: 4, rate: "
        "800Gbps}, {down: 12}]}\n",
        "servers: {count: 4, gpus: 2}\n"
        "nics: {rate: 100Gbps, per_gpu: 2}\n"
        "fabric: {kind: fat-tree, rails: true, tiers: [{down: 2, rate: "
        "200Gbps}, {down: 8}]}\n",
        "servers: {count: 20, gpus: 1}\n"
        "fabric: {kind: dragonfly-plus, leaves_per_group: 2, spines_per_group: "
        "2, nics_per_leaf: 2, global_per_spine: 2}\n",
        "servers: {count: 18, gpus: 2}\n"
        "fabric: {kind: torus, shape: [3, 3]}\n"));

// Two leaves and a spine; node2 has a NIC that runs at half its rate, and one
// of two cables of leaf2 to the spine does.
constexpr char kSmall[] =
    "Ca 1 \"H-1\" # \"node1 mlx5_0\"\n"
    "[1](1) \"S-1\"[1] # lid 1 lmc 0 \"leaf1\" lid 1 4xNDR\n"
    "Ca 1 \"H-2\" # \"node1 mlx5_1\"\n"
    "[1](1) \"S-2\"[1] # lid 1 lmc 0 \"leaf2\" lid 1 4xNDR\n"
    "Ca 1 \"H-3\" # \"node2 mlx5_0\"\n"
    "[1](1) \"S-1\"[2] # lid 1 lmc 0 \"leaf1\" lid 1 2xNDR\n"
    "Ca 1 \"H-4\" # \"node2 mlx5_1\"\n"
    "[1](1) \"S-2\"[2] # lid 1 lmc 0 \"leaf2\" lid 1 4xNDR\n"
    "Ca 1 \"H-5\" # \"login1 mlx5_0\"\n"
    "[1](1) \"S-3\"[4] # lid 1 lmc 0 \"spine\" lid 1 4xNDR\n"
    "Ca 1 \"H-6\" # \"Mellanox Technologies Aggregation Node\"\n"
    "[1](1) \"S-3\"[5] # lid 1 lmc 0 \"spine\" lid 1 4xNDR\n"
    "Switch 64 \"S-1\" # \"leaf1\" base port 0 lid 1 lmc 0\n"
    "[1] \"H-1\"[1](1) # \"node1 mlx5_0\" lid 1 4xNDR\n"
    "[2] \"H-3\"[1](1) # \"node2 mlx5_0\" lid 1 2xNDR\n"
    "[3] \"S-3\"[1] # \"spine\" lid 1 4xNDR\n"
    "Switch 64 \"S-2\" # \"leaf2\" base port 0 lid 1 lmc 0\n"
    "[1] \"H-2\"[1](1) # \"node1 mlx5_1\" lid 1 4xNDR\n"
    "[2] \"H-4\"[1](1) # \"node2 mlx5_1\" lid 1 4xNDR\n"
    "[3] \"S-3\"[2] # \"spine\" lid 1 4xNDR\n"
    "[4] \"S-3\"[3] # \"spine\" lid 1 4xHDR\n"
    "Switch 64 \"S-3\" # \"spine\" base port 0 lid 1 lmc 0\n"
    "[1] \"S-1\"[3] # \"leaf1\" lid 1 4xNDR\n"
    "[2] \"S-2\"[3] # \"leaf2\" lid 1 4xNDR\n"
    "[3] \"S-2\"[4] # \"leaf2\" lid 1 4xHDR\n"
    "[4] \"H-5\"[1](1) # \"login1 mlx5_0\" lid 1 4xNDR\n"
    "[5] \"H-6\"[1](1) # \"Mellanox Technologies Aggregation Node\" lid 1 "
    "4xNDR\n";

ServerType TwoGpus() {
  ServerType type;
  type.name = "type";
  type.server.gpus = 2;
  return type;
}

TEST(DiscoveredFabricTest, SlowPortsAndOtherHostsAreTold) {
  const Drawn drawn = Draw(kSmall, TwoGpus());
  EXPECT_THAT(
      drawn.warnings,
      ElementsAre(
          "t:11:1: an adapter named \"Mellanox Technologies Aggregation Node\" "
          "is left out: expected \"HOST DEVICE\", such as \"node1 mlx5_0\"",
          "t: the host \"login1\" has 1 NIC in the fabric, and type has 2: it "
          "is left out",
          "t:6:1: port 1 of \"node2 mlx5_0\" to \"leaf1\" runs at 2xNDR "
          "(200Gbps), another NIC of this host at 4xNDR (400Gbps)",
          "t:21:1: port 4 of \"leaf2\" to \"spine\" runs at 4xHDR (200Gbps), "
          "another port to tier 2 at 4xNDR (400Gbps)"));
  // 4 GPUs, 2 NVSwitches, leaf1, leaf2, spine; the cables of leaf2 to the spine
  // are one.
  const Topology& topology = drawn.topology;
  EXPECT_EQ(topology.num_nodes(), 9u);
  EXPECT_EQ(CablesByTier(topology), (Cables{{0, 4, "3600Gbps 25ns 0"},
                                            {0, 6, "400Gbps 500ns 0"},
                                            {1, 4, "3600Gbps 25ns 0"},
                                            {1, 7, "400Gbps 500ns 0"},
                                            {2, 5, "3600Gbps 25ns 0"},
                                            {2, 6, "200Gbps 500ns 0"},
                                            {3, 5, "3600Gbps 25ns 0"},
                                            {3, 7, "400Gbps 500ns 0"},
                                            {6, 8, "400Gbps 500ns 0"},
                                            {7, 8, "600Gbps 500ns 0"}}));
}

// The NICs of NCCL's file say which goes to which GPU.
TEST(DiscoveredFabricTest, NicsAreFoundByTheirNames) {
  ServerType type = TwoGpus();
  type.server.nics = {{.gpus = {0}, .name = "mlx5_1"},
                      {.gpus = {1}, .name = "mlx5_0"}};
  const Drawn drawn = Draw(kSmall, type, {"node2"});
  // 2 GPUs, an NVSwitch, leaf1, leaf2, spine.
  EXPECT_EQ(CablesByTier(drawn.topology), (Cables{{0, 2, "3600Gbps 25ns 0"},
                                                  {0, 4, "400Gbps 500ns 0"},
                                                  {1, 2, "3600Gbps 25ns 0"},
                                                  {1, 3, "200Gbps 500ns 0"},
                                                  {3, 5, "400Gbps 500ns 0"},
                                                  {4, 5, "600Gbps 500ns 0"}}));
}

// The GPU's only NIC goes to leaf1, so leaf2 and the spine are not needed.
TEST(DiscoveredFabricTest, SwitchesThatNoServerNeedsAreLeftOut) {
  ServerType type = TwoGpus();
  type.server.nics = {{.gpus = {0, 1}, .name = "mlx5_0"}};
  const Drawn drawn = Draw(kSmall, type, {"node2", "node1"});
  // 4 GPUs, 2 NVSwitches, the NICs of both servers, leaf1. node2 is first.
  EXPECT_EQ(drawn.topology.num_nodes(), 9u);
  EXPECT_EQ(drawn.topology.links().size(), 2u * (4 + 4 + 2));
  const LinkId last(static_cast<uint32_t>(drawn.topology.links().size() - 4));
  EXPECT_EQ(drawn.topology.LinkName(last),
            "switch 6 (tier 1) -> switch 8 (tier 2) at 200 Gbps");
}

// Hosts n1 to n5 with 2 ports each, and one with 3; a server has 4 NICs.
TEST(DiscoveredFabricTest, SuccessiveHostsAreARack) {
  std::vector<FabricHost> hosts;
  for (uint32_t i = 1; i <= 5; ++i) {
    hosts.push_back({fmt::format("n{}", i), {{"a", i, 0}, {"b", i, 0}}});
  }
  hosts.insert(hosts.begin() + 1, {"x", {{}, {}, {}}});
  Warnings warnings;
  const std::vector<FabricHost> joined =
      JoinHostsOfRacks(hosts, 4, "t", &warnings);
  ASSERT_EQ(joined.size(), 4u);
  EXPECT_EQ(joined[0].name, "n1 to n2");
  EXPECT_EQ(joined[1].name, "n3 to n4");
  EXPECT_EQ(joined[2].name, "x");
  EXPECT_EQ(joined[3].name, "n5");
  ASSERT_EQ(joined[1].ports.size(), 4u);
  EXPECT_EQ(joined[1].ports[2].node, 4u);
  EXPECT_THAT(warnings,
              ElementsAre("t: 2 successive hosts with 2 NICs each are a "
                          "server, such as n1 to n2"));
  EXPECT_EQ(JoinHostsOfRacks(hosts, 3, "t", &warnings).size(), hosts.size());
}

// Both adapters of the host are called mlx5_0: their names are of no use, and
// that is said with both lines.
TEST(DiscoveredFabricTest, AHostThatNamesADeviceTwiceIsTold) {
  const IbFabric fabric = ValueOrDie(ParseIbnetdiscover(
      "t",
      "Switch\t2 \"S-1\"\t\t# \"leaf\" base port 0 lid 1 lmc 0\n"
      "[1]\t\"H-1\"[1] \t\t# \"node1 mlx5_0\" lid 2 4xNDR\n"
      "[2]\t\"H-2\"[1] \t\t# \"node1 mlx5_0\" lid 3 4xNDR\n"
      "Ca\t1 \"H-1\"\t\t# \"node1 mlx5_0\"\n"
      "[1] \t\"S-1\"[1]\t\t# lid 2 lmc 0 \"leaf\" lid 1 4xNDR\n"
      "Ca\t1 \"H-2\"\t\t# \"node1 mlx5_0\"\n"
      "[1] \t\"S-1\"[2]\t\t# lid 3 lmc 0 \"leaf\" lid 1 4xNDR\n"));
  Warnings warnings;
  std::vector<FabricHost> hosts = FindHosts("t", fabric, &warnings);
  ServerType type = TwoGpus();
  type.server.nics = EvenNics(2, 1, 1);
  type.server.nics[0].name = "mlx5_0";
  type.server.nics[1].name = "mlx5_1";
  hosts = ValueOrDie(MatchNics(hosts, type, true, "t", fabric, &warnings));
  EXPECT_EQ(hosts[0].ports.size(), 2u);
  EXPECT_THAT(warnings,
              ElementsAre("t:7:1: the host \"node1\" has port 1 of \"mlx5_0\" "
                          "twice, here and on line 5: its NICs are taken in "
                          "order"));
}

TEST(DiscoveredFabricTest, MistakesOfHostsAreNamed) {
  Warnings warnings;
  const IbFabric fabric = ValueOrDie(ParseIbnetdiscover("t", kSmall));
  const std::vector<FabricHost> hosts = FindHosts("t", fabric, &warnings);
  EXPECT_EQ(
      std::string(ChooseHosts(hosts, {"node1", "nod2"}).status().message()),
      "the fabric has no host \"nod2\"; did you mean \"node2\"?");
  EXPECT_EQ(
      std::string(ChooseHosts(hosts, {"node1", "node1"}).status().message()),
      "\"node1\" is there twice");
  ServerType type = TwoGpus();
  type.server.nics = EvenNics(2, 1, 1);
  EXPECT_EQ(std::string(MatchNics(hosts, type, true, "t", fabric, &warnings)
                            .status()
                            .message()),
            "t: the host \"login1\" has 1 NIC in the fabric, and type has 2");
  std::vector<uint32_t> lines;
  EXPECT_EQ(
      std::string(
          ParseHostNames("h", "# hosts\na b\n", &lines).status().message()),
      "h:2:3: unexpected \"b\": expected one host a line");
  EXPECT_EQ(std::string(ParseHostNames("h", "\n", &lines).status().message()),
            "h:1:1: expected the names of hosts, one a line");
}

}  // namespace
}  // namespace astra::testing
