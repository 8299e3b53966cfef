#include "astra-core/apps/server_types.h"

#include <cmath>
#include <string>

#include "astra-core/base/parse.h"
#include "collectives/systems/system_library.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

absl::StatusOr<ServerType> Find(const std::string& name,
                                const std::string& folder = "") {
  Warnings warnings;
  return ServerTypesFor(folder, &warnings).named(name);
}

ServerType Named(const std::string& name) { return ValueOrDie(Find(name)); }

double GbpsOf(const std::string& rate) {
  return ToGbps(ValueOrDie(ParseBandwidth(rate)));
}

// 18 links of 25 GB/s; 8 NICs of 400 Gbps.
TEST(ServerTypesTest, ADgxH100HasOneNvSwitchAndANicForEachGpu) {
  const ServerType type = Named("DGX_H100");
  EXPECT_EQ(type.name, "dgx-h100");
  EXPECT_EQ(type.server.gpus, 8u);
  EXPECT_EQ(type.server.nv_switches, 1u);
  EXPECT_EQ(type.server.nvlink, (CableSpec{"3600Gbps", "250ns", "0"}));
  EXPECT_EQ(type.nic, (CableSpec{"400Gbps", "500ns", "0"}));
  ASSERT_EQ(type.server.nics.size(), 8u);
  EXPECT_THAT(type.server.nics[7].gpus, ElementsAre(7));
}

// 4 of 12 links of 25 GB/s to each of 3 others.
TEST(ServerTypesTest, GpusWithoutSwitchesHaveCables) {
  const ServerType type = Named("perlmutter");
  EXPECT_EQ(type.server.nv_switches, 0u);
  ASSERT_EQ(type.server.gpu_cables.size(), 6u);
  EXPECT_EQ(type.server.gpu_cables[5],
            (GpuCable{2, 3, {"800Gbps", "250ns", "0"}}));
}

TEST(ServerTypesTest, FewNicsAreSharedByNeighbours) {
  const ServerType type = Named("h100-pcie");
  ASSERT_EQ(type.server.nics.size(), 2u);
  EXPECT_THAT(type.server.nics[1].gpus, ElementsAre(4, 5, 6, 7));
}

// Every GPU of every system reaches the others with the rate of its file, and
// the NICs have the rate of all NICs.
TEST(ServerTypesTest, EverySystemIsAType) {
  for (const SystemSpec& system : BundledSystems()) {
    SCOPED_TRACE(system.name);
    const ServerType type = ValueOrDie(ServerTypeOf(system));
    double inside = type.server.nv_switches * GbpsOf(type.server.nvlink.rate);
    for (const GpuCable& each : type.server.gpu_cables) {
      if (each.a == 0) inside += GbpsOf(each.cable.rate);
    }
    if (system.gpus_per_server > 1) {
      EXPECT_NEAR(inside, 8 * system.interconnect.GBps, 1e-6);
    }
    if (system.transport.name.empty()) {
      EXPECT_EQ(type.nic.rate, "");
      continue;
    }
    EXPECT_EQ(type.server.nics.size(), system.nics_per_server);
    EXPECT_NEAR(GbpsOf(type.nic.rate), 8 * system.nic_GBps, 1e-6);
  }
}

TEST(ServerTypesTest, AnUnknownTypeIsNamedWithTheNearest) {
  EXPECT_THAT(std::string(Find("dgx-h10").status().message()),
              ::testing::StartsWith(
                  "unknown system \"dgx-h10\"; did you mean \"dgx-h100\"?"));
  EXPECT_THAT(std::string(Find("my.yaml", "in/here").status().message()),
              ::testing::StartsWith("in/here/my.yaml: "));
}

}  // namespace
}  // namespace astra::testing
