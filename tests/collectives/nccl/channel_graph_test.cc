#include "collectives/nccl/channel_graph.h"

#include <random>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using enum NcclAlgorithm;

// A server of 8 GPUs whose NVLinks have `gpu_GBps`.
GroupHardware OneServer(GpuArchitecture architecture, double gpu_GBps) {
  GroupHardware hardware;
  hardware.architecture = architecture;
  hardware.num_ranks = 8;
  hardware.ranks_per_server = 8;
  hardware.fewest_ranks_per_server = 8;
  hardware.gpu_GBps = gpu_GBps;
  return hardware;
}

// Servers of 8 H100, each with a NIC of 400 Gbps.
GroupHardware H100Servers(uint32_t num_servers) {
  GroupHardware hardware = OneServer(GpuArchitecture::kHopper, 370.8);
  hardware.num_servers = num_servers;
  hardware.num_ranks = 8 * num_servers;
  hardware.nics_per_server = 8;
  hardware.nic_GBps = 50;
  hardware.has_nvls = true;
  return hardware;
}

ChannelGraph GraphOf(NcclAlgorithm algorithm, const GroupHardware& hardware,
                     const NcclOptions& options = {}) {
  return SearchChannels(hardware, options)[IndexOf(algorithm)];
}

// "12 x 30", "8 x 48 / 24" where a channel is slower between servers.
std::string Text(const ChannelGraph& graph) {
  if (graph.num_channels == 0) return "none";
  const std::string text =
      fmt::format("{} x {}", graph.num_channels, graph.intra_GBps);
  return graph.inter_GBps == graph.intra_GBps
             ? text
             : fmt::format("{} / {}", text, graph.inter_GBps);
}

TEST(ChannelGraphTest, ChannelsFillTheNvlinksOfEachGeneration) {
  using enum GpuArchitecture;
  // 6 x 20, 12 x 20, 18 x 20.6 and 18 x 40.1 GB/s. 3 channels of 40 become 6.
  EXPECT_EQ(Text(GraphOf(kRing, OneServer(kVolta, 120))), "6 x 20");
  EXPECT_EQ(Text(GraphOf(kRing, OneServer(kAmpere, 240))), "12 x 20");
  EXPECT_EQ(Text(GraphOf(kRing, OneServer(kHopper, 370.8))), "12 x 30");
  EXPECT_EQ(Text(GraphOf(kRing, OneServer(kBlackwell, 721.8))), "16 x 45");
  EXPECT_EQ(GraphOf(kTree, OneServer(kHopper, 370.8)).num_channels, 12U);
}

TEST(ChannelGraphTest, ALowerRateIsTakenIfItUsesMoreOfTheLinks) {
  using enum GpuArchitecture;
  // H800: 2 of 60 are 120, 3 of 50 are 150, 4 of 40 are 160 of 164.8.
  EXPECT_EQ(Text(GraphOf(kRing, OneServer(kHopper, 164.8))), "8 x 20");
  // A100 on PCIe 4.0: 1 of 20, or 2 of 12 of 24.
  EXPECT_EQ(Text(GraphOf(kRing, OneServer(kAmpere, 24))), "2 x 12");
}

TEST(ChannelGraphTest, ChannelsInAServerNeverExceedItsLinks) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> rate(20, 2000);
  for (int i = 0; i < 1000; ++i) {
    const auto architecture = static_cast<GpuArchitecture>(i % 4);
    const GroupHardware hardware = OneServer(architecture, rate(random));
    const ChannelGraph graph = GraphOf(kRing, hardware);
    const double all = graph.num_channels * graph.intra_GBps;
    EXPECT_LE(all, hardware.gpu_GBps) << Text(graph);
    EXPECT_GE(all, hardware.gpu_GBps / 2) << Text(graph);
  }
}

TEST(ChannelGraphTest, OverServersAChannelHasANic) {
  // The highest rate of the list that 400 Gbps allow is 48.
  EXPECT_EQ(Text(GraphOf(kRing, H100Servers(2))), "8 x 48");
  EXPECT_EQ(Text(GraphOf(kTree, H100Servers(4))), "8 x 48");
  // 8 A100 that share 4 NICs of 100 Gbps.
  GroupHardware shared = OneServer(GpuArchitecture::kAmpere, 240);
  shared.num_servers = 2;
  shared.nics_per_server = 4;
  shared.nic_GBps = 12.5;
  EXPECT_EQ(Text(GraphOf(kRing, shared)), "4 x 12");
}

TEST(ChannelGraphTest, ALoneNicIsSplitInTwoChannels) {
  GroupHardware hardware = H100Servers(4);
  hardware.num_ranks = 4;
  hardware.ranks_per_server = 1;
  hardware.nics_per_server = 1;
  EXPECT_EQ(Text(GraphOf(kRing, hardware)), "2 x 24");
  EXPECT_EQ(Text(GraphOf(kPat, hardware)), "2 x 24");
}

TEST(ChannelGraphTest, EachRankOfAServerHeadsAChannelOfNvls) {
  for (const uint32_t ranks : {2U, 5U, 8U, 32U}) {
    GroupHardware hardware = OneServer(GpuArchitecture::kHopper, 370.8);
    hardware.ranks_per_server = ranks;
    hardware.fewest_ranks_per_server = ranks;
    hardware.has_nvls = true;
    EXPECT_EQ(Text(GraphOf(kNvls, hardware)), fmt::format("{} x 60", ranks));
  }
  EXPECT_EQ(Text(GraphOf(kNvlsTree, H100Servers(4))), "8 x 60 / 48");

  // The server with the fewest ranks has a head for each channel, or none.
  GroupHardware uneven = H100Servers(2);
  uneven.fewest_ranks_per_server = 3;
  EXPECT_EQ(Text(GraphOf(kNvlsTree, uneven)), "3 x 60 / 48");
  uneven.fewest_ranks_per_server = 1;
  EXPECT_EQ(Text(GraphOf(kNvlsTree, uneven)), "none");

  // 8 of 18 links: 60 x 8 / 18 is 26.7.
  GroupHardware h800 = OneServer(GpuArchitecture::kHopper, 164.8);
  h800.has_nvls = true;
  EXPECT_EQ(Text(GraphOf(kNvls, h800)), "8 x 24");
}

TEST(ChannelGraphTest, AlgorithmsNeedWhatTheyRunOn) {
  const auto has = [](NcclAlgorithm algorithm, const GroupHardware& hardware,
                      const NcclOptions& options = {}) {
    return GraphOf(algorithm, hardware, options).num_channels > 0;
  };
  const GroupHardware one = H100Servers(1);
  const GroupHardware two = H100Servers(2);
  GroupHardware sharp = two;
  sharp.has_sharp = true;
  GroupHardware without_switch = one;
  without_switch.has_nvls = false;
  GroupHardware lone = two;
  lone.ranks_per_server = 1;
  lone.fewest_ranks_per_server = 1;
  const NcclOptions all = {.collnet = true};

  EXPECT_TRUE(has(kNvls, one));
  EXPECT_FALSE(has(kNvls, without_switch));
  EXPECT_FALSE(has(kNvls, one, {.nvls = false}));
  EXPECT_FALSE(has(kNvls, sharp, all));  // None of ours runs it.
  EXPECT_FALSE(has(kNvlsTree, one));
  EXPECT_TRUE(has(kNvlsTree, two));
  EXPECT_FALSE(has(kNvlsTree, two, {.nvls = false}));
  EXPECT_FALSE(has(kNvlsTree, lone));
  for (const NcclAlgorithm algorithm : {kCollnetDirect, kCollnetChain}) {
    EXPECT_FALSE(has(algorithm, two, all));
    EXPECT_TRUE(has(algorithm, sharp, all));
    EXPECT_FALSE(has(algorithm, sharp, {.collnet = false}));
  }
  EXPECT_FALSE(has(kPat, two));
  EXPECT_TRUE(has(kPat, lone));
  EXPECT_FALSE(has(kPat, lone, {.pat = false}));
}

TEST(ChannelGraphTest, KernelsUseEachChannelTwiceWithinTheLimits) {
  const GroupHardware hardware = H100Servers(1);
  const ChannelGraph ring = GraphOf(kRing, hardware);
  const auto channels = [&](NcclAlgorithm algorithm, uint32_t min,
                            uint32_t max) {
    return NumKernelChannels(algorithm, ring, hardware,
                             {.min_channels = min, .max_channels = max});
  };
  EXPECT_EQ(channels(kRing, 0, 0), 24U);
  EXPECT_EQ(channels(kNvls, 0, 0), 16U);
  EXPECT_EQ(channels(kRing, 32, 0), 32U);
  EXPECT_EQ(channels(kRing, 0, 4), 4U);
  EXPECT_EQ(channels(kNvls, 0, 4), 4U);
  EXPECT_EQ(channels(kRing, 8, 4), 4U);
  const GroupHardware blackwell = OneServer(GpuArchitecture::kBlackwell, 721.8);
  EXPECT_EQ(NumKernelChannels(kNvls, ring, blackwell, {}), 32U);
}

}  // namespace
}  // namespace astra
