#include "tests/testing/matchers.h"
#include "topology/cluster.h"
#include "topology/templates/registry.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

// 512 GPUs below 8 ASWs of 64 ports; with dual ToR 4 pairs of 128 ports.
TEST(DcnPlusTest, HasOneToROrTwo) {
  const ClusterParameters single = ValueOrDie(DcnPlusTemplate().defaults({}));
  EXPECT_EQ(single.num_gpus, 512);
  EXPECT_EQ(single.bandwidth, "400Gbps");
  EXPECT_EQ(ValueOrDie(CountCluster(single)).num_segments, 8);
  EXPECT_EQ(ValueOrDie(CountCluster(single)).num_asws, 8);
  EXPECT_EQ(ValueOrDie(CountCluster(single)).num_psws, 8);
  EXPECT_EQ(DcnPlusTemplate().file_name(single),
            "DCN+SingleToR_512g_8gps_400Gbps_H100");

  const ClusterParameters dual =
      ValueOrDie(DcnPlusTemplate().defaults({.dual_tor = true}));
  EXPECT_EQ(dual.bandwidth, "200Gbps");
  EXPECT_EQ(ValueOrDie(CountCluster(dual)).num_segments, 4);
  EXPECT_EQ(ValueOrDie(CountCluster(dual)).num_asws, 8);
  EXPECT_EQ(DcnPlusTemplate().file_name(dual),
            "DCN+DualToR_512g_8gps_200Gbps_H100");
}

TEST(DcnPlusTest, RefusesRailsAndPlanes) {
  for (const TemplateChoice& choice : {TemplateChoice{.rail_optimised = true},
                                       TemplateChoice{.dual_plane = true}}) {
    EXPECT_THAT(DcnPlusTemplate().defaults(choice),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "DCN+ has no rails and one plane: --ro and --dp "
                         "contradict it; use -topo Spectrum-X or AlibabaHPN"));
  }
}

}  // namespace
}  // namespace astra
