#include "collectives/nccl/group_hardware.h"

#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"

namespace astra {
namespace {

using ::astra::testing::Drawing;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

std::vector<RankId> Ranks(const std::vector<uint32_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

// The hardware of `ranks` of a topology, as NVLink 4 on Intel and InfiniBand.
GroupHardware Of(const std::vector<uint32_t>& ranks, const Topology& topology) {
  return ValueOrDie(
      HardwareOf(Ranks(ranks), ValueOrDie(FindSystem("dgx-h100")), topology));
}

// The same of 2 servers of a system.
GroupHardware OfSystem(const std::string& name,
                       const std::vector<uint32_t>& ranks) {
  const SystemSpec system = ValueOrDie(FindSystem(name));
  const uint32_t per_server = system.gpus_per_server;
  return ValueOrDie(HardwareOf(
      Ranks(ranks), system,
      ValueOrDie(BuildSystemTopology(system, 2 * per_server, per_server))));
}

std::string Nics(const GroupHardware& hardware) {
  return fmt::format("{} x {}", hardware.nics_per_server, hardware.nic_GBps);
}

TEST(GroupHardwareTest, TellsWhatTheSystemIs) {
  const GroupHardware hardware = OfSystem("aws-p5", {0, 1, 8, 9});
  EXPECT_EQ(hardware.architecture, GpuArchitecture::kHopper);
  EXPECT_EQ(hardware.cpu, CpuVendor::kAmd);
  EXPECT_EQ(hardware.interconnect, InterconnectKind::kNvlink);
  EXPECT_TRUE(hardware.has_nvls);
  EXPECT_FALSE(hardware.has_sharp);
  EXPECT_EQ(hardware.net_latency_us,
            ValueOrDie(FindSystem("aws-p5")).transport.latency_us);
  EXPECT_TRUE(OfSystem("dgx-h100", {0, 8}).has_sharp);
  EXPECT_FALSE(OfSystem("dgx-a100", {0, 8}).has_nvls);
}

TEST(GroupHardwareTest, CountsRanksAndServers) {
  const GroupHardware uneven = OfSystem("dgx-h100", {0, 1, 2, 9});
  EXPECT_EQ(uneven.num_ranks, 4U);
  EXPECT_EQ(uneven.num_servers, 2U);
  EXPECT_EQ(uneven.ranks_per_server, 3U);
  const GroupHardware one = OfSystem("dgx-h100", {8, 9, 15});
  EXPECT_EQ(one.num_servers, 1U);
  EXPECT_EQ(one.ranks_per_server, 3U);
}

TEST(GroupHardwareTest, OrderOfTheRanksDoesNotMatter) {
  EXPECT_EQ(OfSystem("aws-p4d", {0, 1, 8, 11}),
            OfSystem("aws-p4d", {11, 0, 8, 1}));
}

TEST(GroupHardwareTest, NvlinksCountAsNcclReckonsWithThem) {
  // 18 links of 20.6 GB/s.
  EXPECT_NEAR(OfSystem("dgx-h100", {0, 1}).gpu_GBps, 370.8, 1e-9);
  // Nobody shares a server: NVLinks are there all the same.
  EXPECT_NEAR(OfSystem("dgx-h100", {0, 8}).gpu_GBps, 370.8, 1e-9);
  EXPECT_EQ(OfSystem("dgx-h100", {0, 8}).ranks_per_server, 1U);
}

// 18 links of 20.6 GB/s, 6 to each of the other 3 GPUs.
TEST(GroupHardwareTest, WithoutASwitchAGroupHasTheLinksBetweenItsRanks) {
  const auto check = [](const std::vector<uint32_t>& ranks, double links) {
    const GroupHardware hardware = OfSystem("gh200-slingshot", ranks);
    EXPECT_NEAR(hardware.gpu_GBps, links * 20.6, 1e-9);
    EXPECT_NEAR(hardware.link_share, links / 18, 1e-12);
    EXPECT_NEAR(hardware.link_GBps, 450, 1e-9);
  };
  check({1, 3}, 6);
  check({0, 1, 3}, 12);
  check({0, 1, 2, 3}, 18);
  check({0, 1, 4, 5}, 6);
  check({0, 4}, 18);  // Nothing is sent within a server.
  EXPECT_EQ(OfSystem("dgx-h100", {0, 1}).link_share, 1);
}

TEST(GroupHardwareTest, SeveralNvSwitchesAndLinksToGpusAddUp) {
  // 2 GPUs: 150 GB/s to each of 2 switches, and to one another.
  Drawing drawing(2, 2, 2, 0);
  for (const uint32_t gpu : {0U, 1U}) {
    drawing.Cable(gpu, 2, "1200Gbps").Cable(gpu, 3, "1200Gbps");
  }
  drawing.Cable(0, 1, "1200Gbps");
  EXPECT_NEAR(Of({0, 1}, drawing.Build()).gpu_GBps, 370.8, 1e-9);
}

TEST(GroupHardwareTest, TheSlowestGpuCounts) {
  Drawing drawing(3, 3, 1, 0);
  drawing.Cable(0, 3, "3600Gbps").Cable(1, 3, "1800Gbps");
  drawing.Cable(2, 3, "3600Gbps");
  const Topology topology = drawing.Build();
  // Less than the data sheet's 450 GB/s is taken as it is.
  EXPECT_NEAR(Of({0, 1, 2}, topology).gpu_GBps, 225, 1e-9);
  EXPECT_NEAR(Of({0, 1, 2}, topology).link_GBps, 225, 1e-9);
  EXPECT_NEAR(Of({0, 2}, topology).gpu_GBps, 370.8, 1e-9);
}

TEST(GroupHardwareTest, GpusThatShareANicHaveOneTogether) {
  // 4 NICs of 100 Gbps for 8 GPUs: 0 and 1 share the first.
  EXPECT_EQ(Nics(OfSystem("aws-p4d", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                      13, 14, 15})),
            "4 x 12.5");
  EXPECT_EQ(Nics(OfSystem("aws-p4d", {0, 8})), "1 x 12.5");
  EXPECT_EQ(Nics(OfSystem("aws-p4d", {0, 1, 8, 9})), "1 x 12.5");
  EXPECT_EQ(Nics(OfSystem("aws-p4d", {0, 2, 8, 10})), "2 x 12.5");
}

TEST(GroupHardwareTest, SeveralNicsOfAGpuCountAsOne) {
  // 32 NICs of 100 Gbps for 8 GPUs.
  EXPECT_EQ(Nics(OfSystem("aws-p5", {0, 1, 8, 9})), "2 x 50");
  // 4 GPUs on 2 servers, each with 200 Gbps to 2 switches.
  Drawing drawing(4, 2, 2, 2);
  for (uint32_t gpu = 0; gpu < 4; ++gpu) {
    drawing.Cable(gpu, 4 + gpu / 2, "3600Gbps");
    drawing.Cable(gpu, 6, "200Gbps").Cable(gpu, 7, "200Gbps");
  }
  EXPECT_EQ(Nics(Of({0, 1, 2, 3}, drawing.Build())), "2 x 50");
}

TEST(GroupHardwareTest, TheServerWithTheLeastNicsCounts) {
  EXPECT_EQ(Nics(OfSystem("dgx-h100", {0, 1, 2, 9})), "1 x 50");
  // The second server has slower ones.
  Drawing drawing(4, 2, 2, 1);
  for (uint32_t gpu = 0; gpu < 4; ++gpu) {
    drawing.Cable(gpu, 4 + gpu / 2, "3600Gbps");
    drawing.Cable(gpu, 6, gpu < 2 ? "400Gbps" : "200Gbps");
  }
  EXPECT_EQ(Nics(Of({0, 1, 2, 3}, drawing.Build())), "2 x 25");
}

// 2 servers of 2 GPUs, of which the first has the only NIC.
Topology OneNicOfTwo() {
  Drawing drawing(4, 2, 2, 1);
  for (uint32_t gpu = 0; gpu < 4; ++gpu) {
    drawing.Cable(gpu, 4 + gpu / 2, "3600Gbps");
  }
  drawing.Cable(0, 6).Cable(2, 6);
  return drawing.Build();
}

TEST(GroupHardwareTest, AGpuWithoutNicUsesThatOfItsNeighbour) {
  EXPECT_EQ(Nics(Of({0, 1, 2, 3}, OneNicOfTwo())), "1 x 50");
}

TEST(GroupHardwareTest, AServerWithoutNicIsAnError) {
  const SystemSpec system = ValueOrDie(FindSystem("dgx-h100"));
  EXPECT_THAT(HardwareOf(Ranks({0, 3}), system, OneNicOfTwo()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "rank 3 has no NIC: its group spans 2 servers"));
}

TEST(GroupHardwareTest, AServerWithoutLinksWithinIsAnError) {
  Drawing drawing(4, 2, 0, 1);
  for (uint32_t gpu = 0; gpu < 4; ++gpu) drawing.Cable(gpu, 4);
  const Topology topology = drawing.Build();
  EXPECT_THAT(
      HardwareOf(Ranks({0, 1}), ValueOrDie(FindSystem("dgx-h100")), topology),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "GPU 0 has no link, NVLink or PCIe, to others of its server"));
  EXPECT_EQ(Nics(Of({0, 2}, topology)), "1 x 50");
}

}  // namespace
}  // namespace astra
