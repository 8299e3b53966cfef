#include "collectives/systems/system_library.h"

#include <algorithm>
#include <map>
#include <set>

#include "astra-core/base/names.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "workload/operators/gpu_library.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string NameOf(std::string_view name) {
  return ValueOrDie(FindSystem(name)).name;
}

TEST(SystemLibraryTest, FindsNamesAndAliases) {
  EXPECT_EQ(NameOf("dgx-h100"), "dgx-h100");
  EXPECT_EQ(NameOf("DGX_H100"), "dgx-h100");
  EXPECT_EQ(NameOf("hgx-h100"), "dgx-h100");
  EXPECT_EQ(NameOf("p5.48xlarge"), "aws-p5");
  EXPECT_EQ(NameOf("nd96isr-h100-v5"), "azure-nd-h100-v5");
  EXPECT_EQ(NameOf("bm.gpu.h100.8"), "oci-h100");
  EXPECT_EQ(NameOf("Alps"), "gh200-slingshot");
}

TEST(SystemLibraryTest, ListsTheNamesSorted) {
  const std::vector<std::string> names = SystemNames();
  EXPECT_EQ(names.size(), BundledSystems().size());
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_THAT(names, ::testing::IsSupersetOf({"aws-p4d", "dgx-a100",
                                              "gb200-nvl72", "gcp-a3-mega"}));
}

TEST(SystemLibraryTest, OffersTheNearestName) {
  EXPECT_THAT(
      FindSystem("dgx-h10"),
      StatusIs(
          absl::StatusCode::kNotFound,
          StartsWith("unknown system \"dgx-h10\"; did you mean "
                     "\"dgx-h100\"? (known: a100-pcie, a100-pcie-pair, ")));
}

TEST(SystemLibraryTest, LoadsAFile) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.PathOf("mine.yaml");
  SystemSpec mine = ValueOrDie(LoadSystem("dgx-h100"));
  mine.name = "mine";
  mine.transport.latency_us = 4.5;
  mine.transport.origin = "ours";
  testing::WriteText(path, WriteSystem(mine));
  const SystemSpec loaded = ValueOrDie(LoadSystem(path));
  EXPECT_EQ(loaded.name, "mine");
  EXPECT_EQ(loaded.transport.latency_us, 4.5);
  EXPECT_EQ(loaded.transport.origin, "ours");

  testing::WriteText(path, "name: mine\n");
  EXPECT_THAT(LoadSystem(path),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       path + ":1:1: a system has no \"gpu\""));
  EXPECT_THAT(LoadSystem("no/such"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no/such")));
}

TEST(SystemLibraryTest, EverySystemIsReadBackAsItIsWritten) {
  for (SystemSpec system : BundledSystems()) {
    SCOPED_TRACE(system.name);
    system.interconnect.launch_us += 0.1;
    system.interconnect.paces.direct.efficiency /= 3;
    system.transport.latency_us /= 3;
    const std::string text = WriteSystem(system);
    const SystemSpec again =
        ValueOrDie(ParseSystem("again", text, BundledParts()));
    EXPECT_EQ(WriteSystem(again), text);
    EXPECT_EQ(again.interconnect.launch_us, system.interconnect.launch_us);
  }
}

TEST(SystemLibraryTest, NoNameIsGivenTwice) {
  std::map<std::string, std::string> owners;
  for (const SystemSpec& system : BundledSystems()) {
    std::vector<std::string> names = system.aliases;
    names.push_back(system.name);
    for (const std::string& given : names) {
      std::string name = LowerCase(given);
      std::replace(name.begin(), name.end(), '_', '-');
      EXPECT_TRUE(owners.emplace(name, system.name).second)
          << name << " is " << owners[name] << " and " << system.name;
    }
  }
}

TEST(SystemLibraryTest, EveryPartIsNamedOnceAndUsed) {
  std::set<std::string> interconnects;
  std::set<std::string> transports;
  for (const SystemSpec& system : BundledSystems()) {
    interconnects.insert(system.interconnect.name);
    transports.insert(system.transport.name);
  }
  const SystemParts& parts = BundledParts();
  for (const Interconnect& part : parts.interconnects) {
    EXPECT_EQ(interconnects.erase(part.name), 1) << part.name;
  }
  for (const Transport& part : parts.transports) {
    EXPECT_EQ(transports.erase(part.name), 1) << part.name;
  }
}

// The interconnect has the rates that the file of the GPU has.
TEST(SystemLibraryTest, TheInterconnectIsThatOfTheGpu) {
  for (const SystemSpec& system : BundledSystems()) {
    SCOPED_TRACE(system.name);
    const GpuSpec gpu = ValueOrDie(FindGpu(system.gpu));
    // "Blackwell Ultra" is a Blackwell; NCCL takes Ada for Ampere.
    std::string architecture =
        LowerCase(gpu.architecture.substr(0, gpu.architecture.find(' ')));
    if (architecture == "ada") architecture = "ampere";
    EXPECT_THAT(WriteSystem(system),
                HasSubstr("architecture: " + architecture + "\n"));
    if (system.interconnect.kind == InterconnectKind::kPcie) {
      EXPECT_EQ(system.interconnect.GBps, gpu.pcie_gb_per_s);
      EXPECT_EQ(system.nv_switches_per_server, 0);
    } else {
      EXPECT_EQ(system.interconnect.GBps, gpu.nvlink_gb_per_s);
    }
  }
}

TEST(SystemLibraryTest, TheNumbersAreSane) {
  for (const SystemSpec& system : BundledSystems()) {
    SCOPED_TRACE(system.name);
    EXPECT_FALSE(system.sources.empty());
    EXPECT_FALSE(system.interconnect.sources.empty());
    EXPECT_LE(system.interconnect.nccl_GBps, system.interconnect.GBps);
    // The reduction is in the NVSwitches.
    EXPECT_LE(system.interconnect.has_nvls, system.nv_switches_per_server > 0);
    if (system.transport.name.empty()) continue;
    EXPECT_FALSE(system.transport.sources.empty());
    // 10 Gbps for each GPU, where servers share a NIC of Ethernet, to 800 Gbps.
    const double gbps_per_gpu =
        8 * system.nic_GBps * system.nics_per_server / system.gpus_per_server;
    EXPECT_GE(gbps_per_gpu, 10);
    EXPECT_LE(gbps_per_gpu, 800);
    EXPECT_GT(system.max_servers, 1);
  }
}

}  // namespace
}  // namespace astra
