#include "collectives/systems/system_file.h"

#include <string>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

constexpr char kInterconnect[] = R"(name: links
source: [a datasheet, a paper]
kind: nvlink
GBps: 450
nccl_GBps: 370.8
nvls: true
latency_ns: 250
calibration:
  origin: made up
  launch_us: 24
  graph_launch_us: 16
  ll_GBps: 147
  symmetric_us: 8
  copy_GBps: 1676
  ring: {efficiency: 0.8, ramp_us: 190, ramp_MiB: 240}
  tree: {efficiency: 0.7}
  direct: {ramp_us: 0}
)";

constexpr char kTransport[] = R"(name: fabric
source: a datasheet
fabric_latency_ns: 500
calibration:
  origin: made up
  latency_us: 2
  launch_us: 25
  one_queue_pair: 0.9
  ring: {efficiency: 0.97}
  nvls_tree: {efficiency: 0.9}
)";

constexpr char kSystem[] = R"(name: toy
aliases: [Toy-1, Toy-2]
source: [a brochure]
gpu: h100-sxm
architecture: hopper
cpu: amd
gpus_per_server: 8
nv_switches_per_server: 4
interconnect: links
transport: fabric
nics_per_server: 16
nic_Gbps: 200
max_servers: 32
sharp: true
)";

// `file` with `text`, which is there, in another form.
std::string With(std::string file, std::string_view text,
                 std::string_view other) {
  const size_t at = file.find(text);
  ASTRA_CHECK(at != std::string::npos, "no {}", text);
  return file.replace(at, text.size(), other);
}

SystemParts Parts() {
  return {{ValueOrDie(ParseInterconnect("i", kInterconnect))},
          {ValueOrDie(ParseTransport("t", kTransport))}};
}

SystemSpec Parse(std::string_view contents) {
  return ValueOrDie(ParseSystem("s", contents, Parts()));
}

// Whether `pace` has these constants.
MATCHER_P3(IsPace, efficiency, ramp_us, ramp_MiB, "") {
  return arg.efficiency == efficiency && arg.ramp_us == ramp_us &&
         arg.ramp_MiB == ramp_MiB;
}

TEST(InterconnectFileTest, ReadsWhatItSays) {
  const Interconnect links = ValueOrDie(ParseInterconnect("i", kInterconnect));
  EXPECT_EQ(links.name, "links");
  EXPECT_THAT(links.sources, ElementsAre("a datasheet", "a paper"));
  EXPECT_EQ(links.kind, InterconnectKind::kNvlink);
  EXPECT_EQ(links.GBps, 450);
  EXPECT_EQ(links.nccl_GBps, 370.8);
  EXPECT_TRUE(links.has_nvls);
  EXPECT_EQ(links.latency_ns, 250);
  EXPECT_EQ(links.origin, "made up");
  EXPECT_EQ(links.launch_us, 24);
  EXPECT_EQ(links.graph_launch_us, 16);
  EXPECT_EQ(links.ll_GBps, 147);
  EXPECT_EQ(links.symmetric_us, 8);
  EXPECT_EQ(links.copy_GBps, 1676);
}

TEST(InterconnectFileTest, PacesAreAsOfTheRingUnlessTheySayOtherwise) {
  const Paces paces = ValueOrDie(ParseInterconnect("i", kInterconnect)).paces;
  EXPECT_THAT(paces.of(NcclAlgorithm::kRing), IsPace(0.8, 190, 240));
  EXPECT_THAT(paces.of(NcclAlgorithm::kTree), IsPace(0.7, 190, 240));
  EXPECT_THAT(paces.of(NcclAlgorithm::kPat), IsPace(0.8, 190, 240));
  EXPECT_THAT(paces.direct, IsPace(0.8, 0, 240));
  EXPECT_THAT(paces.send_recv, IsPace(0.8, 0, 240));
  EXPECT_THAT(paces.symmetric, IsPace(0.8, 190, 240));
}

TEST(InterconnectFileTest, MessagesToOneRankAreAsDirectUnlessTheySayOtherwise) {
  const Paces paces =
      ValueOrDie(
          ParseInterconnect(
              "i", With(std::string(kInterconnect), "  copy_GBps: 1676\n",
                        "  copy_GBps: 1676\n  send_recv: {efficiency: 0.9}\n")))
          .paces;
  EXPECT_THAT(paces.direct, IsPace(0.8, 0, 240));
  EXPECT_THAT(paces.send_recv, IsPace(0.9, 0, 240));
}

TEST(InterconnectFileTest, LatenciesAreAsNcclSaysUnlessTheySayOtherwise) {
  const Interconnect links = ValueOrDie(ParseInterconnect(
      "i", With(std::string(kInterconnect), "  copy_GBps: 1676\n",
                "  copy_GBps: 1676\n  crowding: 2\n"
                "  latency_ll: {start: 0.7, hop: 1.3, spread: 0.2}\n")));
  EXPECT_EQ(links.crowding, 2);
  const auto& [protocols, nvls, direct] = links.latencies;
  const ProtocolLatency& ll = protocols[IndexOf(NcclProtocol::kLl)];
  EXPECT_EQ(ll.start, 0.7);
  EXPECT_EQ(ll.hop, 1.3);
  EXPECT_EQ(ll.spread, 0.2);
  EXPECT_EQ(ll.spread_KiB, 16);
  EXPECT_EQ(nvls.start, 1);
  EXPECT_EQ(direct.hop, 1);
  EXPECT_EQ(direct.spread, 0);
}

TEST(TransportFileTest, ReadsWhatItSays) {
  const Transport fabric = ValueOrDie(ParseTransport("t", kTransport));
  EXPECT_EQ(fabric.name, "fabric");
  EXPECT_THAT(fabric.sources, ElementsAre("a datasheet"));
  EXPECT_EQ(fabric.fabric_latency_ns, 500);
  EXPECT_EQ(fabric.origin, "made up");
  EXPECT_EQ(fabric.latency_us, 2);
  EXPECT_EQ(fabric.one_queue_pair, 0.9);
  EXPECT_EQ(fabric.launch_us, 25);
  EXPECT_THAT(fabric.paces.of(NcclAlgorithm::kRing), IsPace(0.97, 0, 1));
  EXPECT_THAT(fabric.paces.of(NcclAlgorithm::kNvlsTree), IsPace(0.9, 0, 1));
}

TEST(SystemFileTest, ReadsWhatItSays) {
  const SystemSpec toy = Parse(kSystem);
  EXPECT_EQ(toy.name, "toy");
  EXPECT_THAT(toy.aliases, ElementsAre("Toy-1", "Toy-2"));
  EXPECT_THAT(toy.sources, ElementsAre("a brochure"));
  EXPECT_EQ(toy.gpu, "h100-sxm");
  EXPECT_EQ(toy.architecture, GpuArchitecture::kHopper);
  EXPECT_EQ(toy.cpu, CpuVendor::kAmd);
  EXPECT_EQ(toy.gpus_per_server, 8);
  EXPECT_EQ(toy.nv_switches_per_server, 4);
  EXPECT_EQ(toy.interconnect.name, "links");
  EXPECT_EQ(toy.interconnect.GBps, 450);
  EXPECT_EQ(toy.transport.name, "fabric");
  EXPECT_EQ(toy.transport.latency_us, 2);
  EXPECT_EQ(toy.nics_per_server, 16);
  EXPECT_EQ(toy.nic_GBps, 25);  // 200 Gbps.
  EXPECT_EQ(toy.max_servers, 32);
  EXPECT_TRUE(toy.sharp);
}

TEST(SystemFileTest, ItsOwnCalibrationReplacesWhatItNames) {
  const SystemSpec toy = Parse(std::string(kSystem) +
                               "interconnect_calibration:\n"
                               "  origin: our servers\n"
                               "  launch_us: 20\n"
                               "  ring: {ramp_us: 100}\n"
                               "transport_calibration:\n"
                               "  origin: our switches\n"
                               "  latency_us: 3\n"
                               "  direct: {efficiency: 0.5, ramp_MiB: 4}\n");
  const Interconnect& links = toy.interconnect;
  EXPECT_EQ(links.origin, "our servers");
  EXPECT_EQ(links.launch_us, 20);
  EXPECT_EQ(links.graph_launch_us, 16);
  EXPECT_THAT(links.paces.of(NcclAlgorithm::kRing), IsPace(0.8, 100, 240));
  EXPECT_THAT(links.paces.of(NcclAlgorithm::kNvls), IsPace(0.8, 190, 240));
  EXPECT_EQ(toy.transport.origin, "our switches");
  EXPECT_EQ(toy.transport.latency_us, 3);
  EXPECT_EQ(toy.transport.launch_us, 25);
  EXPECT_THAT(toy.transport.paces.direct, IsPace(0.5, 0, 4));
}

TEST(SystemFileTest, WithoutATransportThereIsOneServer) {
  const std::string file =
      With(kSystem,
           std::string_view(kSystem).substr(
               std::string_view(kSystem).find("transport:")),
           "");
  const SystemSpec toy = Parse(file);
  EXPECT_EQ(toy.transport.name, "");
  EXPECT_EQ(toy.nics_per_server, 0);
  EXPECT_EQ(toy.nic_GBps, 0);
  EXPECT_EQ(toy.max_servers, 1);
  EXPECT_FALSE(toy.sharp);
  EXPECT_EQ(FormatSystem(toy, Parts()).find("transport"), std::string::npos);
}

TEST(FormatSystemTest, WritesTheConstantsThatDiffer) {
  SystemSpec toy = Parse(kSystem);
  toy.name = "a \"quoted\"\n\\name";
  toy.interconnect.origin = "fitted: to mine";
  toy.interconnect.ll_GBps = 0.1 + 0.2;
  toy.interconnect.paces.symmetric = {0.75, 0, 1e-3};
  const std::string text = FormatSystem(toy, Parts());
  EXPECT_EQ(text, R"(name: "a \"quoted\"\x0a\\name"
aliases: ["Toy-1", "Toy-2"]
source: ["a brochure"]
gpu: "h100-sxm"
architecture: hopper
cpu: amd
gpus_per_server: 8
nv_switches_per_server: 4
interconnect: "links"
interconnect_calibration:
  origin: "fitted: to mine"
  ll_GBps: 0.30000000000000004
  symmetric: {efficiency: 0.75, ramp_us: 0, ramp_MiB: 0.001}
transport: "fabric"
nics_per_server: 16
nic_Gbps: 200
max_servers: 32
sharp: true
)");
  // The text has every field that may differ, so that equal texts are equal
  // systems.
  const SystemSpec again = Parse(text);
  EXPECT_EQ(FormatSystem(again, Parts()), text);
  EXPECT_EQ(again.name, toy.name);
  EXPECT_EQ(again.interconnect.ll_GBps, toy.interconnect.ll_GBps);
}

struct BadFile {
  std::string contents;
  std::string message;
};

class BadInterconnectFileTest : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadInterconnectFileTest, SaysWhatAndWhere) {
  EXPECT_THAT(ParseInterconnect("i", GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadInterconnectFileTest,
    ::testing::Values(
        BadFile{"", "i:1:1: an interconnect is nothing, expected a mapping"},
        BadFile{With(kInterconnect, "kind: nvlink", "kind: nvlnk"),
                "i:3:7: unknown kind \"nvlnk\"; did you mean \"nvlink\"? "
                "(known: nvlink, pcie)"},
        BadFile{With(kInterconnect, "GBps: 450", "GBps: 0"),
                "i:4:7: GBps is \"0\": expected a number from 0.001 to "
                "1000000"},
        BadFile{With(kInterconnect, "nvls: true", "nvls: yes"),
                "i:6:7: nvls is \"yes\": expected true or false"},
        BadFile{With(kInterconnect, "  origin: made up\n", ""),
                "i:9:3: calibration has no \"origin\""},
        BadFile{With(kInterconnect, "efficiency: 0.8, ", ""),
                "i:15:9: ring has no \"efficiency\""},
        BadFile{With(kInterconnect, "efficiency: 0.8", "efficiency: 80"),
                "i:15:22: efficiency is \"80\": expected a number from 0.001 "
                "to 2"},
        BadFile{With(kInterconnect, "ramp_MiB: 240", "ramp_MiB: 0"),
                "i:15:51: ramp_MiB is \"0\": expected a number from 0.001 to "
                "1000000"},
        BadFile{With(kInterconnect, "tree: {efficiency", "tree: {eficiency"),
                "i:16:21: unknown field of tree \"eficiency\"; did you mean "
                "\"efficiency\"? (known: efficiency, ramp_MiB, ramp_us)"},
        BadFile{
            With(kInterconnect, "  direct:", "  patt:"),
            "i:17:9: unknown field of calibration \"patt\"; did you mean "
            "\"pat\"? (known: collnet_chain, collnet_direct, "
            "copy_GBps, crowding, direct, graph_launch_us, latency_direct, "
            "latency_ll, latency_ll128, latency_nvls, latency_simple, "
            "launch_us, ll_GBps, nvls, "
            "nvls_tree, "
            "origin, pat, ring, send_recv, symmetric, symmetric_us, tree)"}));

class BadTransportFileTest : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadTransportFileTest, SaysWhatAndWhere) {
  EXPECT_THAT(ParseTransport("t", GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadTransportFileTest,
    ::testing::Values(
        BadFile{With(kTransport, "fabric_latency_ns: 500\n", ""),
                "t:1:1: a transport has no \"fabric_latency_ns\""},
        BadFile{With(kTransport, "latency_us: 2", "latency_us: 2us"),
                "t:6:15: latency_us is \"2us\": expected a number from 0 to "
                "1000000"},
        BadFile{With(kTransport, "  ring:", "  tree:"),
                "t:5:3: ring has no \"efficiency\""}));

class BadSystemFileTest : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadSystemFileTest, SaysWhatAndWhere) {
  EXPECT_THAT(ParseSystem("s", GetParam().contents, Parts()),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSystemFileTest,
    ::testing::Values(
        BadFile{With(kSystem, "gpu: h100-sxm\n", ""),
                "s:1:1: a system has no \"gpu\""},
        BadFile{With(kSystem, "hopper", "ada"),
                "s:5:15: unknown architecture \"ada\" (known: volta, ampere, "
                "hopper, blackwell)"},
        BadFile{With(kSystem, "gpus_per_server: 8", "gpus_per_server: 2000"),
                "s:7:18: gpus_per_server is \"2000\": expected a whole number "
                "from 1 to 1024"},
        BadFile{With(kSystem, "interconnect: links", "interconnect: link"),
                "s:9:15: unknown interconnect \"link\"; did you mean "
                "\"links\"? (known: links)"},
        BadFile{With(kSystem, "transport: fabric", "transport: fibre"),
                "s:10:12: unknown transport \"fibre\" (known: fabric)"},
        BadFile{With(kSystem, "nic_Gbps: 200", "nic_Gbps: 200Gbps"),
                "s:12:11: nic_Gbps is \"200Gbps\": expected a number from "
                "0.001 to 1000000"},
        BadFile{With(kSystem, "max_servers: 32\n", ""),
                "s:1:1: a system has no \"max_servers\""},
        BadFile{With(kSystem, "transport: fabric\n", ""),
                "s:10:18: expected no nics_per_server without a transport"},
        BadFile{With(kSystem, "sharp: true\n",
                     "transport_calibration: {latency_us: 1}\n"),
                "s:14:24: transport_calibration has no \"origin\""},
        BadFile{With(kSystem, "sharp: true\n",
                     "interconnect_calibration: {origin: x, latency_us: 1}\n"),
                "s:14:51: unknown field of interconnect_calibration "
                "\"latency_us\"; did you mean \"latency_ll\"? (known: "
                "collnet_chain, collnet_direct, copy_GBps, crowding, direct, "
                "graph_launch_us, "
                "latency_direct, latency_ll, latency_ll128, latency_nvls, "
                "latency_simple, launch_us, ll_GBps, nvls, nvls_tree, origin, "
                "pat, ring, send_recv, symmetric, symmetric_us, tree)"}));

}  // namespace
}  // namespace astra
