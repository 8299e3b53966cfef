#include "topology/discovered/nccl_topology.h"

#include <string>
#include <vector>

#include "fmt/core.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Gpu(int dev, int sm, const std::string& device,
                const std::string& links) {
  return fmt::format(
      "<pci busid=\"0000:{:02x}:00.0\" class=\"0x030200\" vendor=\"0x10de\" "
      "device=\"{}\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">"
      "<gpu dev=\"{}\" sm=\"{}\" rank=\"{}\" gdr=\"1\">{}</gpu></pci>\n",
      0x10 + dev, device, dev, sm, dev, links);
}

std::string Links(const std::string& target, int count,
                  const std::string& target_class) {
  return fmt::format("<nvlink target=\"{}\" count=\"{}\" tclass=\"{}\"/>",
                     target, count, target_class);
}

std::string Net(const std::string& name, int dev, int mbps = 400'000) {
  return fmt::format(
      "<pci busid=\"0000:{:02x}:00.0\" class=\"0x020700\"><nic>"
      "<net name=\"{}\" dev=\"{}\" speed=\"{}\" port=\"1\" latency=\"0.000\" "
      "gdr=\"1\"/></nic></pci>\n",
      0x80 + dev, name, dev, mbps);
}

std::string Bridge(const std::string& inside) {
  return "<pci busid=\"0000:01:00.0\" class=\"0x060400\" "
         "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">" +
         inside + "</pci>\n";
}

std::string Cpu(int numa, const std::string& inside) {
  return fmt::format("<cpu host_hash=\"0x1\" numaid=\"{}\">{}</cpu>\n", numa,
                     inside);
}

struct Read {
  ServerType type;
  Warnings warnings;
};

Read ReadSystem(const std::string& cpus) {
  Read read;
  read.type = ValueOrDie(ParseNcclTopology(
      "t", "<system version=\"1\">\n" + cpus + "</system>\n", &read.warnings));
  return read;
}

std::vector<std::vector<uint32_t>> GpusOfNics(const ServerType& type) {
  std::vector<std::vector<uint32_t>> gpus;
  for (const ServerNic& nic : type.server.nics) gpus.push_back(nic.gpus);
  return gpus;
}

// 5 + 4 links of 25 GB/s, to two switches.
TEST(NcclTopologyTest, LinksToNvSwitchesAddUp) {
  const std::string links = Links("0000:06:00.0", 5, "0x068000") +
                            Links("fffffff:ffff:ff", 4, "0x068000");
  const Read read = ReadSystem(
      Cpu(0, Bridge(Gpu(0, 90, "0x2330", links) + Net("mlx5_0", 0)) +
                 Bridge(Gpu(1, 90, "0x2330", links) + Net("mlx5_1", 1))));
  const ServerSpec& server = read.type.server;
  EXPECT_EQ(server.gpus, 2u);
  EXPECT_EQ(server.gpu_type, "h100-sxm");
  EXPECT_EQ(server.nv_switches, 1u);
  EXPECT_EQ(server.nvlink, (CableSpec{"1800Gbps", "250ns", "0"}));
  EXPECT_THAT(server.gpu_cables, IsEmpty());
  EXPECT_EQ(read.type.nic, (CableSpec{"400Gbps", "500ns", "0"}));
  EXPECT_THAT(read.warnings, IsEmpty());
}

// A GPU that lost a link is drawn as the others, and told.
TEST(NcclTopologyTest, AMissingLinkIsTold) {
  const Read read = ReadSystem(
      Cpu(0, Gpu(0, 90, "0x2330", Links("0000:06:00.0", 18, "0x068000")) +
                 Gpu(1, 90, "0x2330", Links("0000:06:00.0", 17, "0x068000"))));
  EXPECT_EQ(read.type.server.nvlink.rate, "3600Gbps");
  EXPECT_THAT(read.warnings,
              ElementsAre("t:3:120: GPU 1 has 17 links to NVSwitches, others "
                          "have 18, with which all are drawn"));
}

// Four GPUs with 4 links of 25 GB/s to each other, as on Perlmutter. NVML
// writes eight digits of the domain.
TEST(NcclTopologyTest, LinksBetweenGpusAreCables) {
  std::string gpus;
  for (int i = 0; i < 4; ++i) {
    std::string links;
    for (int j = 0; j < 4; ++j) {
      if (i == j) continue;
      links +=
          Links(fmt::format("00000000:{:02X}:00.0", 0x10 + j), 4, "0x030200");
    }
    gpus += Gpu(i, 80, "0x20b2", links);
  }
  const Read read = ReadSystem(Cpu(0, gpus));
  EXPECT_EQ(read.type.server.nv_switches, 0u);
  ASSERT_EQ(read.type.server.gpu_cables.size(), 6u);
  EXPECT_EQ(read.type.server.gpu_cables[5],
            (GpuCable{2, 3, {"800Gbps", "250ns", "0"}}));
  EXPECT_EQ(read.type.nic.rate, "");
}

// Two pairs of GPUs: NVLink within a pair, PCIe 4.0 x16 between pairs.
TEST(NcclTopologyTest, PcieJoinsWhatNvlinkDoesNot) {
  const auto pair = [](int first) {
    return Gpu(first, 80, "0x20b5",
               Links(fmt::format("0000:{:02x}:00.0", 0x11 + first), 12,
                     "0x030200")) +
           Gpu(first + 1, 80, "0x20b5",
               Links(fmt::format("0000:{:02x}:00.0", 0x10 + first), 12,
                     "0x030200"));
  };
  const Read read = ReadSystem(Cpu(0, Bridge(pair(0))) + Cpu(1, pair(2)));
  EXPECT_EQ(read.type.server.nv_switches, 1u);
  EXPECT_EQ(read.type.server.nvlink.rate, "256Gbps");
  EXPECT_THAT(read.type.server.gpu_cables,
              ElementsAre(GpuCable{0, 1, {"2400Gbps", "250ns", "0"}},
                          GpuCable{2, 3, {"2400Gbps", "250ns", "0"}}));
}

// As in a DGX A100: two GPUs and two NICs below each bridge; a NIC for storage
// is further away from all GPUs.
TEST(NcclTopologyTest, GpusBelowABridgeDivideItsNics) {
  const std::string links = Links("0000:c4:00.0", 12, "0x068000");
  const auto half = [&](int first) {
    return Bridge(Gpu(first, 80, "0x20b0", links) + Net("a", 2 * first) +
                  Gpu(first + 1, 80, "0x20b0", links) + Net("b", first + 1));
  };
  const Read read =
      ReadSystem(Cpu(0, half(0)) + Cpu(1, half(2) + Net("storage", 9)));
  EXPECT_THAT(GpusOfNics(read.type),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2),
                          ElementsAre(3)));
  EXPECT_THAT(read.warnings,
              ElementsAre("t:13:49: NIC \"storage\" is nearest to no GPU and "
                          "is left out"));
}

// One NIC of each CPU, for two GPUs; four NICs of one GPU.
TEST(NcclTopologyTest, NicsAreSharedOrSeveral) {
  const auto gpus = [](int first) {
    return Gpu(first, 89, "0x26b9", "") + Gpu(first + 1, 89, "0x26b9", "");
  };
  const Read shared =
      ReadSystem(Cpu(0, Net("a", 0) + gpus(0)) + Cpu(1, gpus(2) + Net("b", 1)));
  EXPECT_THAT(GpusOfNics(shared.type),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  const Read several = ReadSystem(
      Cpu(0, Net("a", 0) + Net("b", 1) + gpus(0) + Net("c", 2) + Net("d", 3)));
  EXPECT_THAT(GpusOfNics(several.type),
              ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(1),
                          ElementsAre(1)));
}

TEST(NcclTopologyTest, WhatHasNoEffectIsToldOnce) {
  const std::string links = Links("0000:c4:00.0", 18, "0x068000");
  const std::string c2c = "<c2c bw=\"45000\" count=\"10\"/>";
  const Read read = ReadSystem(Cpu(0, Gpu(0, 100, "0x2941", links + c2c) +
                                          Gpu(1, 100, "0x2941", c2c + links) +
                                          Bridge("<pcilink target=\"x\"/>")));
  EXPECT_EQ(read.type.server.nvlink.rate, "7200Gbps");
  EXPECT_THAT(
      read.warnings,
      ElementsAre("t:2:251: the C2C link of a GPU to its CPU has no effect",
                  "t:4:88: element \"pcilink\" is not known and has no "
                  "effect"));
}

// The file of a rack has several hosts: numbers of GPUs repeat, ranks do not.
TEST(NcclTopologyTest, HostsOfARackKeepTheirNics) {
  const std::string links = Links("fffffff:ffff:ff", 18, "0x068000");
  const auto gpu = [&](int rank) {
    return fmt::format(
        "<pci busid=\"0000:{:02x}:00.0\" vendor=\"0x10de\" "
        "device=\"0x2941\"><gpu dev=\"0\" sm=\"100\" rank=\"{}\">{}</gpu>"
        "</pci>",
        0x10, rank, links);
  };
  const auto host = [](int hash, const std::string& inside) {
    return fmt::format("<cpu host_hash=\"{}\" numaid=\"0\">{}</cpu>\n", hash,
                       inside);
  };
  const Read read = ReadSystem(host(7, gpu(1) + Net("mlx5_0", 1)) +
                               host(8, gpu(0) + Net("mlx5_0", 0)));
  EXPECT_EQ(read.type.server.gpus, 2u);
  EXPECT_THAT(GpusOfNics(read.type),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

}  // namespace
}  // namespace astra::testing
