#include "tests/testing/matchers.h"
#include "topology/cluster.h"
#include "topology/templates/registry.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;

// 15,360 GPUs: 1,920 servers; 8 rails x 128 NICs make 15 segments of 1,024
// GPUs; 8 rails x 2 ToRs x 15 = 240 ASWs. SimAI's file of this size has 74,880
// links: 15,360 NVLink, 2 x 15,360 NIC, 240 x 120 between ASWs and PSWs.
TEST(AlibabaHpnTest, HasTwoToRsPerRailInOnePlane) {
  const ClusterParameters p = ValueOrDie(AlibabaHpnTemplate().defaults({}));
  const ClusterCounts counts = ValueOrDie(CountCluster(p));
  EXPECT_EQ(p.num_gpus, 15'360);
  EXPECT_EQ(counts.num_nv_switches, 1'920);
  EXPECT_EQ(counts.num_segments, 15);
  EXPECT_EQ(counts.num_asws, 240);
  EXPECT_EQ(counts.num_psws, 120);
  EXPECT_EQ(p.bandwidth, "200Gbps");
  EXPECT_EQ(AlibabaHpnTemplate().file_name(p),
            "AlibabaHPN_15360g_8gps_DualToR_SinglePlane_200Gbps_H100");
}

// A PSW then sees one plane: 15 segments x 8 rails = 120 ports.
TEST(AlibabaHpnTest, HasTwoPlanesWhereAsked) {
  const ClusterParameters p =
      ValueOrDie(AlibabaHpnTemplate().defaults({.dual_plane = true}));
  EXPECT_TRUE(p.dual_plane);
  EXPECT_EQ(p.asws_per_psw, 120);
  EXPECT_EQ(ValueOrDie(CountCluster(p)).num_asws, 240);
  EXPECT_EQ(AlibabaHpnTemplate().file_name(p),
            "AlibabaHPN_15360g_8gps_DualToR_DualPlane_200Gbps_H100");
}

}  // namespace
}  // namespace astra
