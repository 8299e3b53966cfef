#include <cstdint>

#include "tests/testing/matchers.h"
#include "topology/cluster.h"
#include "topology/routes.h"
#include "topology/templates/registry.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

// 576 GPUs are 8 racks with 18 NVSwitches each. On 4 rails a rack has 18 NICs
// per rail, so an ASW with 36 ports takes 2 racks: 4 segments of 4 ASWs.
TEST(NvlTest, IsRacksOf72On4Rails) {
  const ClusterParameters p = ValueOrDie(NvlTemplate().defaults({}));
  const ClusterCounts counts = ValueOrDie(CountCluster(p));
  EXPECT_EQ(p.num_gpus, 576);
  EXPECT_EQ(p.gpus_per_server, 72);
  EXPECT_EQ(counts.num_servers, 8);
  EXPECT_EQ(counts.num_nv_switches, 8 * 18);
  EXPECT_EQ(counts.num_segments, 4);
  EXPECT_EQ(counts.num_asws, 16);
  EXPECT_EQ(counts.num_psws, 36);
  EXPECT_EQ(NvlTemplate().file_name(p), "NVL_576g_72gps_400Gbps_GB200");
}

// NVLink 5 is 1.8 TB/s in both directions together: 7,200 Gbps each way, over
// 18 NVSwitches of 400 Gbps or 9 of 800 Gbps.
TEST(NvlTest, HasTheRateOfNvlink5InRacksOf72And36) {
  for (const int64_t per_rack : {72, 36}) {
    ClusterParameters p =
        ValueOrDie(NvlTemplate().defaults({.gpus_per_server = per_rack}));
    p.num_gpus = per_rack;
    const Topology topology = ValueOrDie(BuildCluster(p));
    Routes routes(topology);
    const Route route = ValueOrDie(routes.Find(RankId(0), RankId(35)));
    EXPECT_EQ(routes.BottleneckBandwidth(route), Gbps(7200));
    EXPECT_EQ(route.num_hops, 2u);
    EXPECT_EQ(topology.links_from(NodeId(0)).size(), per_rack / 4 + 1u);
  }
}

TEST(NvlTest, RefusesWhatContradictsIt) {
  EXPECT_THAT(NvlTemplate().defaults({.gpus_per_server = 8}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--gpus-per-server is 8: racks of NVL have 36 or 72 "
                       "GPUs"));
  for (const TemplateChoice& choice :
       {TemplateChoice{.dual_tor = true}, TemplateChoice{.dual_plane = true}}) {
    EXPECT_THAT(NvlTemplate().defaults(choice),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "NVL has one ToR and one plane: --dt and --dp "
                         "contradict it"));
  }
}

}  // namespace
}  // namespace astra
