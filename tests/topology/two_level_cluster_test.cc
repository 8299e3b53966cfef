#include "topology/two_level_cluster.h"

#include <string_view>

#include "tests/testing/matchers.h"
#include "topology/topology_file.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

TwoLevelParameters TwoServersOfTwo(int64_t nics_per_server) {
  return {.num_gpus = 4,
          .gpus_per_server = 2,
          .nics_per_server = nics_per_server,
          .nvlink_gb_per_s = 360,
          .nic_gb_per_s = 48.5,
          .gpu_type = "H100"};
}

// 360 GB/s are 2880 Gbps, 48.5 GB/s are 388 Gbps.
TEST(TwoLevelClusterTest, LinksEachGpuToItsNvSwitchAndTheOneAbove) {
  EXPECT_EQ(
      FormatTopology(ValueOrDie(BuildTwoLevelCluster(TwoServersOfTwo(2)))),
      "7 2 2 1 8 H100\n"
      "4 5 6 \n"
      "0 4 2880000000000bps 25ns 0\n"
      "1 4 2880000000000bps 25ns 0\n"
      "2 5 2880000000000bps 25ns 0\n"
      "3 5 2880000000000bps 25ns 0\n"
      "0 6 388000000000bps 500ns 0\n"
      "1 6 388000000000bps 500ns 0\n"
      "2 6 388000000000bps 500ns 0\n"
      "3 6 388000000000bps 500ns 0\n");
}

TEST(TwoLevelClusterTest, GpusThatShareANicShareASwitch) {
  const Topology topology =
      ValueOrDie(BuildTwoLevelCluster(TwoServersOfTwo(1)));
  // GPUs 0-3, NVSwitches 4 and 5, the core, then a NIC for each server.
  EXPECT_EQ(topology.num_nodes(), 9u);
  EXPECT_EQ(topology.links().size() / 2, 4u + 4u + 2u);
  EXPECT_EQ(topology.tier(NodeId(6)), 2);
  EXPECT_EQ(topology.tier(NodeId(7)), 1);
  EXPECT_EQ(topology.LinkName(topology.links_from(NodeId(0))[1]),
            "GPU 0 -> switch 7 (tier 1) at 388 Gbps");
  EXPECT_EQ(topology.LinkName(topology.links_from(NodeId(3))[1]),
            "GPU 3 -> switch 8 (tier 1) at 388 Gbps");
}

TEST(TwoLevelClusterTest, SeveralNicsOfAGpuAddUp) {
  const Topology topology =
      ValueOrDie(BuildTwoLevelCluster(TwoServersOfTwo(4)));
  EXPECT_EQ(topology.num_nodes(), 7u);
  EXPECT_EQ(topology.LinkName(topology.links_from(NodeId(0))[1]),
            "GPU 0 -> switch 6 (tier 1) at 776 Gbps");
}

TEST(TwoLevelClusterTest, ServersOfOneGpuNeedNoNvSwitch) {
  TwoLevelParameters p = TwoServersOfTwo(1);
  p.gpus_per_server = 1;
  const Topology topology = ValueOrDie(BuildTwoLevelCluster(p));
  EXPECT_EQ(topology.num_nodes(), 5u);
  EXPECT_EQ(topology.kind(NodeId(4)), NodeKind::kSwitch);
}

TEST(TwoLevelClusterTest, RefusesNumbersThatDoNotFit) {
  const auto says = [](std::string_view message) {
    return StatusIs(absl::StatusCode::kInvalidArgument, std::string(message));
  };
  TwoLevelParameters p = TwoServersOfTwo(3);
  EXPECT_THAT(BuildTwoLevelCluster(p),
              says("2 GPUs and 3 NICs of a server do not divide one another"));
  p = TwoServersOfTwo(2);
  p.num_gpus = 5;
  EXPECT_THAT(BuildTwoLevelCluster(p),
              says("5 GPUs do not divide into servers of 2"));
  for (auto member :
       {&TwoLevelParameters::num_gpus, &TwoLevelParameters::gpus_per_server,
        &TwoLevelParameters::nics_per_server}) {
    p = TwoServersOfTwo(2);
    p.*member = 0;
    EXPECT_THAT(BuildTwoLevelCluster(p),
                says("the numbers of GPUs, of GPUs and NICs per server, and "
                     "the rates must be above 0, and the GPUs at most "
                     "16777216"));
  }
  for (auto member : {&TwoLevelParameters::nvlink_gb_per_s,
                      &TwoLevelParameters::nic_gb_per_s}) {
    p = TwoServersOfTwo(2);
    p.*member = 0;
    EXPECT_FALSE(BuildTwoLevelCluster(p).ok());
  }
}

}  // namespace
}  // namespace astra
