#include "topology/cluster.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/testing/matchers.h"
#include "topology/topology_file.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

// The switches, by id, that `node` is linked to.
std::vector<uint32_t> SwitchesOf(const Topology& topology, uint32_t node) {
  std::vector<uint32_t> switches;
  for (const LinkId link : topology.links_from(NodeId(node))) {
    switches.push_back(topology.link(link).target.index());
  }
  return switches;
}

// The numbers of the layouts in the comment of cluster.h, for 40 GPUs in 5
// servers of 8 with 16 NIC ports per ASW.
ClusterParameters FiveServers() {
  ClusterParameters p;
  p.num_gpus = 40;
  p.nics_per_asw = 16;
  p.num_psws = 5;
  return p;
}

// A rail has one NIC of each server: 40 GPUs are 5 of 16 ports in each of 8
// ASWs, one segment.
TEST(ClusterTest, CountsARailOptimisedLayout) {
  ClusterParameters p = FiveServers();
  p.rail_optimised = true;
  const ClusterCounts counts = ValueOrDie(CountCluster(p));
  EXPECT_EQ(counts.num_servers, 5);
  EXPECT_EQ(counts.num_nv_switches, 5);
  EXPECT_EQ(counts.num_segments, 1);
  EXPECT_EQ(counts.num_asws, 8);
  EXPECT_EQ(counts.num_psws, 5);
  EXPECT_EQ(counts.num_cores, 0);

  p.nics_per_asw = 2;  // 16 GPUs per segment, so the third is half empty.
  EXPECT_EQ(ValueOrDie(CountCluster(p)).num_segments, 3);
  EXPECT_EQ(ValueOrDie(CountCluster(p)).num_asws, 24);
  p.dual_tor = true;
  EXPECT_EQ(ValueOrDie(CountCluster(p)).num_asws, 48);
}

// Without rails 40 NICs need 3 ASWs of 16 ports, with dual ToR twice as many.
TEST(ClusterTest, CountsALayoutWithoutRails) {
  ClusterParameters p = FiveServers();
  EXPECT_EQ(ValueOrDie(CountCluster(p)).num_segments, 3);
  EXPECT_EQ(ValueOrDie(CountCluster(p)).num_asws, 3);
  p.dual_tor = true;
  EXPECT_EQ(ValueOrDie(CountCluster(p)).num_segments, 3);
  EXPECT_EQ(ValueOrDie(CountCluster(p)).num_asws, 6);
}

// GPUs 0-7 in servers of 2, NVSwitches 8-11, ASWs 12-15 of segment 0 (rails 0
// and 1) and segment 1, PSWs 16-18.
TEST(ClusterTest, LinksEachGpuToTheAswOfItsRailAndSegment) {
  ClusterParameters p;
  p.num_gpus = 8;
  p.gpus_per_server = 2;
  p.rail_optimised = true;
  p.nics_per_asw = 2;
  p.num_psws = 3;
  const Topology topology = ValueOrDie(BuildCluster(p));
  EXPECT_THAT(SwitchesOf(topology, 0), ElementsAre(8, 12));
  EXPECT_THAT(SwitchesOf(topology, 3), ElementsAre(9, 13));
  EXPECT_THAT(SwitchesOf(topology, 4), ElementsAre(10, 14));
  EXPECT_THAT(SwitchesOf(topology, 7), ElementsAre(11, 15));
  EXPECT_THAT(SwitchesOf(topology, 14), ElementsAre(4, 6, 16, 17, 18));
}

// The same with two planes and dual ToR: ASWs 12-15 of plane 1, 16-19 of plane
// 2. Of the PSWs 20-22, plane 1 has the first two.
TEST(ClusterTest, KeepsThePlanesApart) {
  ClusterParameters p;
  p.num_gpus = 8;
  p.gpus_per_server = 2;
  p.rail_optimised = true;
  p.dual_tor = true;
  p.dual_plane = true;
  p.nics_per_asw = 2;
  p.num_psws = 3;
  const Topology topology = ValueOrDie(BuildCluster(p));
  EXPECT_THAT(SwitchesOf(topology, 5), ElementsAre(10, 15, 19));
  EXPECT_THAT(SwitchesOf(topology, 15), ElementsAre(5, 7, 20, 21));
  EXPECT_THAT(SwitchesOf(topology, 19), ElementsAre(5, 7, 22));

  p.dual_plane = false;
  const Topology one_plane = ValueOrDie(BuildCluster(p));
  EXPECT_THAT(SwitchesOf(one_plane, 19), ElementsAre(5, 7, 20, 21, 22));
}

// 8 GPUs, 4 ports per ASW: ASWs 10 and 11, with dual ToR 12 and 13 as well.
TEST(ClusterTest, NeighboursShareAnAswWhereThereAreNoRails) {
  ClusterParameters p;
  p.num_gpus = 8;
  p.gpus_per_server = 4;
  p.nics_per_asw = 4;
  p.num_psws = 1;
  EXPECT_THAT(SwitchesOf(ValueOrDie(BuildCluster(p)), 3), ElementsAre(8, 10));
  EXPECT_THAT(SwitchesOf(ValueOrDie(BuildCluster(p)), 4), ElementsAre(9, 11));
  p.dual_tor = true;
  EXPECT_THAT(SwitchesOf(ValueOrDie(BuildCluster(p)), 3),
              ElementsAre(8, 10, 12));
  EXPECT_THAT(SwitchesOf(ValueOrDie(BuildCluster(p)), 4),
              ElementsAre(9, 11, 13));
}

// A cluster with an odd number of PSWs, in all layouts, with one pod and two.
TEST(ClusterTest, CountsTheCablesThatAreLaid) {
  ClusterParameters p = FiveServers();
  p.num_gpus = 80;
  for (const int64_t num_pods : {1, 2}) {
    p.num_pods = num_pods;
    for (const int planes : {0, 1, 2}) {
      p.rail_optimised = planes > 0;
      p.dual_tor = planes > 0;
      p.dual_plane = planes > 1;
      EXPECT_EQ(
          ValueOrDie(CountCluster(p)).num_cables,
          static_cast<int64_t>(ValueOrDie(BuildCluster(p)).links().size() / 2));
    }
  }
}

// Two pods of 4 GPUs in servers of 2: NVSwitches 8-11; ASWs 12 13 | 14 15;
// PSWs 16 17 | 18 19. A PSW has 2 ports down, so 2 up: cores 20 21 for the
// first PSW of each pod, 22 23 for the second.
TEST(ClusterTest, CoresJoinTheSamePswOfEachPod) {
  ClusterParameters p;
  p.num_gpus = 8;
  p.gpus_per_server = 2;
  p.rail_optimised = true;
  p.num_psws = 2;
  p.num_pods = 2;
  const ClusterCounts counts = ValueOrDie(CountCluster(p));
  EXPECT_EQ(counts.num_segments, 2);
  EXPECT_EQ(counts.num_asws, 4);
  EXPECT_EQ(counts.num_psws, 4);
  EXPECT_EQ(counts.num_cores, 4);
  EXPECT_EQ(counts.asws_per_pod, 2);
  EXPECT_EQ(counts.gpus_per_pod, 4);

  p.psw_core_bandwidth = "800Gbps";
  const Topology topology = ValueOrDie(BuildCluster(p));
  EXPECT_THAT(SwitchesOf(topology, 5), ElementsAre(10, 15));
  EXPECT_THAT(SwitchesOf(topology, 14), ElementsAre(4, 6, 18, 19));
  EXPECT_THAT(SwitchesOf(topology, 16), ElementsAre(12, 13, 20, 21));
  EXPECT_THAT(SwitchesOf(topology, 19), ElementsAre(14, 15, 22, 23));
  EXPECT_EQ(topology.LinkName(topology.links_from(NodeId(19))[2]),
            "switch 19 (tier 2) -> switch 22 (tier 3) at 800 Gbps");

  p.num_cores = 2;  // Half the rate upwards.
  EXPECT_THAT(SwitchesOf(ValueOrDie(BuildCluster(p)), 19),
              ElementsAre(14, 15, 21));
}

// A PSW of one plane is linked to half of the 4 ASWs of its pod, so it has 2
// ports down and 2 up.
TEST(ClusterTest, CoresKeepTheRateOfAPlane) {
  ClusterParameters p;
  p.num_gpus = 8;
  p.gpus_per_server = 2;
  p.rail_optimised = true;
  p.dual_tor = true;
  p.dual_plane = true;
  p.num_psws = 2;
  p.num_pods = 2;
  EXPECT_EQ(ValueOrDie(CountCluster(p)).asws_per_pod, 4);
  EXPECT_EQ(ValueOrDie(CountCluster(p)).num_cores, 4);
}

TEST(ClusterTest, SpreadsTheGpusOfARackOverFewerRails) {
  ClusterParameters p;
  p.num_gpus = 6;
  p.gpus_per_server = 6;
  p.rail_optimised = true;
  p.num_rails = 2;
  p.num_psws = 1;
  // NVSwitch 6; ASW 7 has GPUs 0 2 4, ASW 8 has 1 3 5.
  const Topology topology = ValueOrDie(BuildCluster(p));
  EXPECT_THAT(SwitchesOf(topology, 7), ElementsAre(0, 2, 4, 9));
  EXPECT_THAT(SwitchesOf(topology, 8), ElementsAre(1, 3, 5, 9));
}

TEST(ClusterTest, CopiesTheTextsOfTheParameters) {
  ClusterParameters p;
  p.num_gpus = 1;
  p.gpus_per_server = 1;
  p.num_psws = 1;
  p.gpu_type = "B200";
  p.nvlink_bandwidth = "1.80Tbps";
  p.nvlink_latency = "25ns";
  p.bandwidth = "100GBps";
  p.asw_psw_bandwidth = "0.4Tbps";
  p.latency = "0.5us";
  p.error_rate = "1e-6";
  EXPECT_EQ(FormatTopology(ValueOrDie(BuildCluster(p))),
            "4 1 1 2 3 B200\n"
            "1 2 3 \n"
            "0 1 1.80Tbps 25ns 1e-6\n"
            "0 2 100GBps 0.5us 1e-6\n"
            "2 3 0.4Tbps 0.5us 1e-6\n");
}

auto Says(std::string_view message) {
  return StatusIs(absl::StatusCode::kInvalidArgument, std::string(message));
}

TEST(ClusterTest, RefusesCountsThatDoNotDivide) {
  ClusterParameters p;
  p.num_gpus = 12;
  EXPECT_THAT(CountCluster(p), Says("12 GPUs do not divide into servers of 8; "
                                    "the next number that does is 16"));
  p = {};
  p.num_gpus = 24;
  p.num_pods = 2;
  EXPECT_THAT(CountCluster(p), Says("3 servers do not divide into 2 pods; the "
                                    "next GPU count that does is 32"));
  p = {};
  p.rail_optimised = true;
  p.num_rails = 3;
  EXPECT_THAT(CountCluster(p),
              Says("8 GPUs of a server do not divide into 3 rails"));
  p = {};
  p.num_pods = 2;
  p.num_cores = 65;
  EXPECT_THAT(CountCluster(p), Says("65 core switches do not divide into "
                                    "groups for 64 PSWs of a pod"));
}

TEST(ClusterTest, RefusesPodsThatNothingConnects) {
  ClusterParameters p;
  p.num_pods = 2;
  p.num_psws = 0;
  EXPECT_THAT(CountCluster(p),
              Says("2 pods without PSWs have nothing that connects them"));
}

TEST(ClusterTest, RefusesPlanesThatALayoutCannotHave) {
  ClusterParameters p;
  p.dual_plane = true;
  EXPECT_THAT(CountCluster(p),
              Says("dual plane needs a rail-optimised layout with dual ToR"));
  p.rail_optimised = true;
  EXPECT_THAT(CountCluster(p), Says("dual plane needs dual ToR"));
}

// The largest pods of SimAI, simai.md 1.4, are accepted; one server more is
// not. By layout: rails, dual ToR, dual plane; ports per ASW, of a PSW; GPUs.
TEST(ClusterTest, RefusesMoreThanAPswHasPortsFor) {
  struct Case {
    bool rails, dual_tor, dual_plane;
    int64_t nics_per_asw, asws_per_psw, max_gpus;
  };
  for (const Case& c : {Case{true, false, false, 64, 64, 4096},
                        Case{true, true, false, 128, 240, 30720},
                        Case{true, true, true, 128, 120, 15360},
                        Case{false, false, false, 64, 8, 512},
                        Case{false, true, false, 128, 8, 512},
                        Case{false, false, false, 64, 64, 4096}}) {
    ClusterParameters p;
    p.rail_optimised = c.rails;
    p.dual_tor = c.dual_tor;
    p.dual_plane = c.dual_plane;
    p.nics_per_asw = c.nics_per_asw;
    p.asws_per_psw = c.asws_per_psw;
    p.num_gpus = c.max_gpus;
    EXPECT_TRUE(CountCluster(p).ok()) << c.max_gpus;
    p.num_gpus += 8;
    EXPECT_FALSE(CountCluster(p).ok()) << c.max_gpus;
    p.num_pods = 2;  // Each pod by itself.
    p.num_gpus = 2 * c.max_gpus;
    EXPECT_TRUE(CountCluster(p).ok()) << c.max_gpus;
  }
  ClusterParameters p;
  p.rail_optimised = true;
  p.num_gpus = 8192;
  EXPECT_THAT(CountCluster(p),
              Says("8192 GPUs per pod need 16 segments of 512 GPUs, but a PSW "
                   "with 64 ports for ASWs connects 8, that is 4096 GPUs; use "
                   "--pods, or larger --nics-per-aswitch or --asw-per-psw"));
}

TEST(ClusterTest, RefusesMoreNodesThanTheLimit) {
  ClusterParameters p;
  p.num_gpus = Topology::kMaxNodes;
  p.nics_per_asw = Topology::kMaxNodes;
  EXPECT_THAT(CountCluster(p),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "16777216 GPUs and 2097217 switches are more nodes than "
                       "the limit of 16777216"));
}

TEST(ClusterTest, RefusesRatesAndTimesThatAreNone) {
  ClusterParameters p;
  p.bandwidth = "400";
  EXPECT_THAT(BuildCluster(p),
              Says("\"400\" is not a rate: expected a number and a unit, such "
                   "as 400Gbps"));
}

}  // namespace
}  // namespace astra
