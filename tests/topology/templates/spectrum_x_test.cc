#include <string_view>

#include "tests/testing/matchers.h"
#include "topology/cluster.h"
#include "topology/templates/registry.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

// 4,096 GPUs: 512 servers with an NVSwitch each; 8 rails x 64 NICs make 8
// segments of 512 GPUs with 8 ASWs; 64 PSWs above the 64 ASWs.
TEST(SpectrumXTest, IsRailOptimisedWithOneToR) {
  const ClusterParameters p = ValueOrDie(SpectrumXTemplate().defaults({}));
  const ClusterCounts counts = ValueOrDie(CountCluster(p));
  EXPECT_EQ(p.num_gpus, 4096);
  EXPECT_EQ(counts.num_nv_switches, 512);
  EXPECT_EQ(counts.num_segments, 8);
  EXPECT_EQ(counts.num_asws, 64);
  EXPECT_EQ(counts.num_psws, 64);
  EXPECT_EQ(p.bandwidth, "400Gbps");
  EXPECT_EQ(SpectrumXTemplate().file_name(p),
            "Spectrum-X_4096g_8gps_400Gbps_H100");
}

// SimAI ignores --dt and --dp here without a word.
TEST(SpectrumXTest, RefusesWhatContradictsIt) {
  for (const TemplateChoice& choice :
       {TemplateChoice{.dual_tor = true}, TemplateChoice{.dual_plane = true}}) {
    EXPECT_THAT(SpectrumXTemplate().defaults(choice),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "Spectrum-X has one ToR and one plane: --dt and --dp "
                         "contradict it; use -topo AlibabaHPN, or --ro --dt "
                         "without -topo"));
  }
  EXPECT_TRUE(SpectrumXTemplate().defaults({.rail_optimised = true}).ok());
}

}  // namespace
}  // namespace astra
