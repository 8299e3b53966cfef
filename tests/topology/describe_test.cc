#include "topology/describe.h"

#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"
#include "topology/cluster.h"

namespace astra {
namespace {

using ::astra::testing::Drawing;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two servers of 2 GPUs on two rails: 4 NICs of 100 Gbps to 2 ASWs, each with
// 2 ports down and 3 x 50 Gbps up to 3 PSWs.
//
//   NVSwitches  2, 4 ports, 4 x 800 = 3200 Gbps down
//   ASWs        2, 4 + 6 ports, 400 Gbps down, 300 Gbps up, 4/3 : 1
//   PSWs        3, 6 ports, 300 Gbps down
TEST(DescribeTest, SaysCountsRatesAndOversubscriptionOfEachTier) {
  ClusterParameters p;
  p.num_gpus = 4;
  p.gpus_per_server = 2;
  p.rail_optimised = true;
  p.num_psws = 3;
  p.nvlink_bandwidth = "800Gbps";
  p.bandwidth = "100Gbps";
  p.asw_psw_bandwidth = "50Gbps";
  p.error_rate = "0.001";

  EXPECT_EQ(DescribeTopology(ValueOrDie(BuildCluster(p))),
            "  GPUs             4 H100 in 2 servers of 2\n"
            "  NVSwitch         2 switches, 4 links, 3200 Gbps down\n"
            "  tier 1 (ASW)     2 switches, 10 links, 400 Gbps down, 300 Gbps "
            "up, oversubscription 1.33:1\n"
            "  tier 2 (PSW)     3 switches, 6 links, 300 Gbps down\n"
            "  in all           11 nodes, 14 links\n"
            "  link make        800 Gbps, 25 ns, error rate 0.001\n"
            "  link make        100 Gbps, 500 ns, error rate 0.001\n"
            "  link make        50 Gbps, 500 ns, error rate 0.001\n");
  EXPECT_THAT(Oversubscriptions(ValueOrDie(BuildCluster(p))),
              ElementsAre("tier 1 (ASW) is oversubscribed 1.33:1: 400 Gbps "
                          "down, 300 Gbps up"));
  p.num_psws = 4;  // 1:1.
  EXPECT_THAT(Oversubscriptions(ValueOrDie(BuildCluster(p))), IsEmpty());
}

TEST(DescribeTest, SaysNothingOfTiersThatAreNotThere) {
  const std::string text =
      DescribeTopology(Drawing(2, 1, 0, 0).Cable(0, 1).Build());
  EXPECT_EQ(text,
            "  GPUs             2 H100 in 2 servers of 1\n"
            "  in all           2 nodes, 1 links\n"
            "  link make        400 Gbps, 500 ns, error rate 0\n");
}

// 4,096 GPUs x 2,880 Gbps = 11,796,480 Gbps: a number, not 1.17965e+07.
TEST(DescribeTest, WritesLargeRatesInFull) {
  ClusterParameters p;
  p.num_gpus = 4096;
  p.num_psws = 1;
  EXPECT_THAT(DescribeTopology(ValueOrDie(BuildCluster(p))),
              HasSubstr("512 switches, 4096 links, 11796480 Gbps down\n"));
}

}  // namespace
}  // namespace astra
