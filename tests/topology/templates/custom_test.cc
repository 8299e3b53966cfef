#include <string>

#include "tests/testing/matchers.h"
#include "topology/cluster.h"
#include "topology/templates/registry.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;

std::string FileName(const TemplateChoice& choice) {
  return CustomTemplate().file_name(
      ValueOrDie(CustomTemplate().defaults(choice)));
}

// The names of SimAI's generator, simai.md 1.5.
TEST(CustomTest, NamesFilesByTheirLayout) {
  EXPECT_EQ(FileName({}), "No_Rail_Opti_32g_8gps_SingleToR_400Gbps_H100");
  EXPECT_EQ(FileName({.dual_tor = true}),
            "No_Rail_Opti_32g_8gps_DualToR_400Gbps_H100");
  EXPECT_EQ(FileName({.rail_optimised = true}),
            "Rail_Opti_SingleToR_32g_8gps_400Gbps_H100");
  EXPECT_EQ(FileName({.rail_optimised = true, .dual_tor = true}),
            "Rail_Opti_32g_8gps_DualToR_SinglePlane_400Gbps_H100");
  EXPECT_EQ(
      FileName({.rail_optimised = true, .dual_tor = true, .dual_plane = true}),
      "Rail_Opti_32g_8gps_DualToR_DualPlane_400Gbps_H100");
}

// 32 GPUs on 8 rails: 8 ASWs; without rails they fit below one ASW.
TEST(CustomTest, DrawsWhatIsAskedFor) {
  EXPECT_EQ(ValueOrDie(CountCluster(ValueOrDie(CustomTemplate().defaults(
                           {.rail_optimised = true, .dual_tor = true}))))
                .num_asws,
            16);
  EXPECT_EQ(ValueOrDie(CountCluster(ValueOrDie(CustomTemplate().defaults({}))))
                .num_asws,
            1);
}

}  // namespace
}  // namespace astra
