#include "collectives/nccl/system_topology.h"

#include "collectives/systems/system_library.h"
#include "tests/testing/matchers.h"
#include "topology/two_level_cluster.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

Topology Build(const std::string& name, uint32_t num_gpus,
               uint32_t per_server) {
  return ValueOrDie(
      BuildSystemTopology(ValueOrDie(FindSystem(name)), num_gpus, per_server));
}

// The links that leave GPU 0: their Gbps, and what they lead to.
std::vector<std::string> LinksOfGpu0(const Topology& topology) {
  std::vector<std::string> names;
  for (const LinkId link : topology.links_from(NodeId(0))) {
    constexpr int64_t kBpsPerGbps = 1'000'000'000;
    names.push_back(fmt::format(
        "{} {}", topology.type(link).bandwidth.count() / kBpsPerGbps,
        topology.kind(topology.link(link).target) == NodeKind::kNvSwitch
            ? "NVSwitch"
            : "switch"));
  }
  return names;
}

TEST(GpusOfDomainTest, RacksHoldEquallyManyWhereTheyAreNotFilled) {
  EXPECT_EQ(GpusOfDomain(36, 72), 36U);
  EXPECT_EQ(GpusOfDomain(144, 72), 72U);
  EXPECT_EQ(GpusOfDomain(128, 72), 64U);
  EXPECT_EQ(GpusOfDomain(192, 72), 64U);
  EXPECT_EQ(GpusOfDomain(101, 72), 72U);  // A prime: they do not divide.
  EXPECT_EQ(GpusOfDomain(12, 8), 8U);     // Servers are filled.
  EXPECT_EQ(GpusOfDomain(0, 72), 0U);
}

TEST(SystemTopologyTest, AGpuHasItsNvlinksAndItsNic) {
  const Topology topology = Build("dgx-h100", 16, 8);
  EXPECT_EQ(topology.num_servers(), 2U);
  EXPECT_EQ(topology.gpu_type(), "h100-sxm");
  EXPECT_THAT(LinksOfGpu0(topology),
              ElementsAre("3600 NVSwitch", "400 switch"));
}

TEST(SystemTopologyTest, SeveralNicsOfAGpuAreOneFaster) {
  EXPECT_THAT(LinksOfGpu0(Build("aws-p5", 16, 8)),
              ElementsAre("3600 NVSwitch", "400 switch"));
}

TEST(SystemTopologyTest, NeighboursShareANic) {
  // 16 GPUs, 2 NVSwitches, 8 NICs and the fabric.
  const Topology topology = Build("aws-p4d", 16, 8);
  EXPECT_EQ(topology.num_nodes(), 16U + 2 + 8 + 1);
  EXPECT_THAT(LinksOfGpu0(topology),
              ElementsAre("2400 NVSwitch", "100 switch"));
}

TEST(SystemTopologyTest, PartOfAServerHasItsPartOfTheNics) {
  EXPECT_THAT(LinksOfGpu0(Build("dgx-h100", 4, 2)),
              ElementsAre("3600 NVSwitch", "400 switch"));
  EXPECT_EQ(Build("aws-p4d", 8, 4).num_nodes(), 8U + 2 + 4 + 1);
  // One GPU of each server does not share its NIC.
  EXPECT_EQ(Build("aws-p4d", 2, 1).num_nodes(), 2U + 1);
}

TEST(SystemTopologyTest, AllSystemsCanBeBuilt) {
  for (const SystemSpec& system : BundledSystems()) {
    const uint32_t servers = std::min(system.max_servers, 4U);
    const uint32_t num_gpus = servers * system.gpus_per_server;
    const Topology topology = ValueOrDie(
        BuildSystemTopology(system, num_gpus, system.gpus_per_server));
    EXPECT_EQ(topology.num_gpus(), num_gpus) << system.name;
    EXPECT_EQ(topology.num_servers(), servers) << system.name;
  }
}

TEST(SystemTopologyTest, NumbersThatDoNotFitAreErrors) {
  const SystemSpec system = ValueOrDie(FindSystem("dgx-h100"));
  const auto error = [&](uint32_t num_gpus, uint32_t per_server) {
    return BuildSystemTopology(system, num_gpus, per_server);
  };
  EXPECT_THAT(error(16, 16), StatusIs(absl::StatusCode::kInvalidArgument,
                                      "16 GPUs of a server: dgx-h100 has 8"));
  EXPECT_THAT(error(16, 0), StatusIs(absl::StatusCode::kInvalidArgument,
                                     "0 GPUs of a server: dgx-h100 has 8"));
  EXPECT_THAT(error(12, 8),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "12 GPUs do not divide into servers of 8"));
  EXPECT_THAT(error(0, 8), StatusIs(absl::StatusCode::kInvalidArgument,
                                    "0 GPUs do not divide into servers of 8"));
  EXPECT_THAT(
      error(16392, 8),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "2049 servers: dgx-h100 has at most 2048 (max_servers)"));
}

TEST(DeriveSystemTest, TakesTheServersOfTheMakerOfTheGpu) {
  const auto derived = [](std::string_view gpu_type) {
    return DeriveSystem(
        ValueOrDie(BuildTwoLevelCluster({.num_gpus = 8,
                                         .gpus_per_server = 8,
                                         .nics_per_server = 8,
                                         .nvlink_gb_per_s = 100,
                                         .nic_gb_per_s = 10,
                                         .gpu_type = std::string(gpu_type)})));
  };
  for (const auto& [gpu, system] :
       {std::pair("H100", "dgx-h100"), std::pair("h100-sxm", "dgx-h100"),
        std::pair("A100", "dgx-a100"), std::pair("H800", "h800"),
        std::pair("H20", "hgx-h20"), std::pair("h100-pcie", "h100-pcie"),
        std::pair("A100-PCIe-80GB", "a100-pcie"),
        std::pair("GB200", "gb200-nvl72")}) {
    EXPECT_EQ(ValueOrDie(derived(gpu)).name, system) << gpu;
  }
  EXPECT_THAT(derived("TPU"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "no system with the GPU \"TPU\" is known: give "
                       "--system"));
  EXPECT_THAT(derived("GPU"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the topology does not name its GPUs: give --system"));
}

}  // namespace
}  // namespace astra
