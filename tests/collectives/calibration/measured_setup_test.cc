#include "collectives/calibration/measured_setup.h"

#include "collectives/nccl/estimator.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::HasSubstr;

// A row of a table. The numbers of GPUs are "servers x GPUs of each".
struct MeasuredRun {
  std::string gpu = "H100-SXM5-80GB";
  uint32_t nodes = 1;
  uint32_t gpus = 8;
  std::string nics = "none";
  std::string nvlink = "NVLink4 NVSwitch3 (18 links, 450 GB/s/dir)";
  std::string env = "default";
  std::string version = "not stated";
  std::string source = "somebody";
  std::string system;
  std::string time_us = "100";
};

MeasuredRow RowOf(const MeasuredRun& run) {
  const MeasuredTable table = ValueOrDie(ParseMeasuredTable(
      "t",
      fmt::format("source_url,system,gpu,nodes,gpus_total,nic_gbps,nvlink_gen,"
                  "collective,bytes,time_us,nccl_version,env,notes\n"
                  "{},{},{},{},{},{},\"{}\",all_reduce,1048576,{},{},{},\n",
                  run.source, run.system, run.gpu, run.nodes, run.gpus,
                  run.nics, run.nvlink, run.time_us, run.version, run.env)));
  return table.rows.at(0);
}

absl::StatusOr<MeasuredSetup> Of(const MeasuredRun& run) {
  return SetupOf(RowOf(run));
}

// "16 h100-sxm, 8 a server, infiniband, 8 x 400"; without a fabric for one
// server. It must be possible to time the row.
std::string Text(const MeasuredRun& run) {
  const MeasuredSetup setup = ValueOrDie(Of(run));
  const SystemSpec& system = setup.system;
  CollectiveEstimator estimator = ValueOrDie(CollectiveEstimator::Create(
      system,
      ValueOrDie(
          BuildSystemTopology(system, setup.num_gpus, setup.gpus_per_server)),
      {}, setup.options));
  EXPECT_GT(ValueOrDie(estimator.Estimate(setup.kind, setup.bytes)).time_us, 0);
  std::string text = fmt::format("{} {}, {} a server", setup.num_gpus,
                                 system.gpu, setup.gpus_per_server);
  if (setup.num_gpus == setup.gpus_per_server) return text;
  return fmt::format("{}, {}, {} x {}", text, system.transport.name,
                     system.nics_per_server, system.nic_GBps * 8);
}

NcclOptions OptionsOf(const std::string& env, const std::string& version = "") {
  return ValueOrDie(Of({.env = env, .version = version})).options;
}

TEST(IsOnLinksOfTest, TheTransportCountsOverSeveralServersOnly) {
  const SystemSpec system = ValueOrDie(LoadSystem("dgx-h100"));
  EXPECT_TRUE(IsOnLinksOf(system, ValueOrDie(Of({}))));
  EXPECT_FALSE(IsOnLinksOf(
      system, ValueOrDie(Of({.gpu = "A100-SXM4-80GB", .nvlink = ""}))));
  EXPECT_TRUE(IsOnLinksOf(
      system, ValueOrDie(Of({.nodes = 2, .gpus = 16, .nics = "8x400 IB"}))));
  EXPECT_FALSE(IsOnLinksOf(
      system, ValueOrDie(Of({.nodes = 2, .gpus = 16, .nics = "8x400 RoCE"}))));
}

// 1 MiB over two servers, of which each receives half, at 8 x 50 GB/s.
TEST(CheckTimeTest, ATimeThatNoNicAllowsIsAnError) {
  const auto check = [](uint32_t nodes, const std::string& time_us) {
    const MeasuredRow row = RowOf({.nodes = nodes,
                                   .gpus = 8 * nodes,
                                   .nics = "8x400 IB",
                                   .time_us = time_us});
    return CheckTime(row, ValueOrDie(SetupOf(row)));
  };
  EXPECT_TRUE(check(2, "0.7").ok());
  EXPECT_THAT(check(2, "0.6"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "so short a time that NICs of 400 GB/s carry less than "
                       "half of the bytes"));
  EXPECT_TRUE(check(1, "0.1").ok());
}

TEST(MeasuredSetupTest, OneServerHasTheInterconnectOfItsGpu) {
  EXPECT_EQ(Text({}), "8 h100-sxm, 8 a server");
  EXPECT_EQ(Text({.gpus = 2}), "2 h100-sxm, 2 a server");
  EXPECT_EQ(Text({.gpus = 5}), "5 h100-sxm, 5 a server");
  EXPECT_EQ(Text({.gpu = "H200-SXM", .nics = "8x400 IB"}),
            "8 h200, 8 a server");
  EXPECT_EQ(Text({.gpu = "B200"}), "8 b200, 8 a server");
  const auto interconnect = [](const MeasuredRun& run) {
    return ValueOrDie(Of(run)).system.interconnect.name;
  };
  EXPECT_EQ(interconnect({.gpu = "A100-SXM4-40GB"}), "nvlink3");
  EXPECT_EQ(interconnect({.gpu = "A100-PCIE-40GB", .nvlink = ""}), "pcie4");
  EXPECT_EQ(interconnect({.gpu = "V100-SXM2-32GB", .gpus = 16}), "nvlink2");
  EXPECT_EQ(interconnect({.gpu = "B200"}), "nvlink5");
}

TEST(MeasuredSetupTest, ServersHaveTheTransportOfTheirNics) {
  const auto text = [](const std::string& gpu, const std::string& nics,
                       const std::string& source = "somebody") {
    return Text(
        {.gpu = gpu, .nodes = 2, .gpus = 16, .nics = nics, .source = source});
  };
  const std::string h100 = "H100-SXM5-80GB";
  EXPECT_EQ(text(h100, "8x400 IB"),
            "16 h100-sxm, 8 a server, infiniband, 8 x 400");
  EXPECT_EQ(text(h100, "32x100 EFA"), "16 h100-sxm, 8 a server, efa, 32 x 100");
  EXPECT_EQ(text(h100, "8x200 TCPXO"),
            "16 h100-sxm, 8 a server, tcpxo, 8 x 200");
  EXPECT_EQ(text(h100, "4x200 TCPX"), "16 h100-sxm, 8 a server, tcpx, 4 x 200");
  EXPECT_EQ(text(h100, "8x400 RoCE"), "16 h100-sxm, 8 a server, roce, 8 x 400");
  EXPECT_EQ(text("H200", "8x400 RoCE", "cloud.google.com"),
            "16 h200, 8 a server, gcp-roce, 8 x 400");
  EXPECT_EQ(text(h100, "16x200 RoCE", "docs.oracle.com"),
            "16 h100-sxm, 8 a server, oci-roce, 16 x 200");
  EXPECT_EQ(text("B300", "8x800 IB"),
            "16 b300, 8 a server, infiniband, 8 x 800");
}

TEST(MeasuredSetupTest, RoceIsOfTheCloudThatTheSourceNamesInAWord) {
  const auto transport = [](const std::string& source) {
    return ValueOrDie(Of({.nodes = 2,
                          .gpus = 16,
                          .nics = "8x400 RoCE",
                          .source = source}))
        .system.transport.name;
  };
  EXPECT_EQ(transport("https://cloud.google.com/a3"), "gcp-roce");
  EXPECT_EQ(transport("github.com/GoogleCloudPlatform/x"), "gcp-roce");
  EXPECT_EQ(transport("GCP"), "gcp-roce");
  EXPECT_EQ(transport("github.com/oracle-quickstart/oci-hpc"), "oci-roce");
  EXPECT_EQ(transport("our (OCI) cluster"), "oci-roce");
  EXPECT_EQ(transport("an associate of ours"), "roce");
  EXPECT_EQ(transport("github.com/oci2/coracles"), "roce");
}

TEST(MeasuredSetupTest, EfaOfA100IsTheFirstGeneration) {
  // 100 Gbps cards that pairs of GPUs share.
  EXPECT_EQ(Text({.gpu = "A100-SXM4-80GB",
                  .nodes = 2,
                  .gpus = 16,
                  .nics = "4x100 EFA",
                  .nvlink = "NVLink3 NVSwitch2 (12 links, 300 GB/s/dir)"}),
            "16 a100-sxm-40gb, 8 a server, efa-v1, 4 x 100");
}

TEST(MeasuredSetupTest, VirtualMachinesHaveTheirOwnNicsOnly) {
  EXPECT_EQ(Text({.gpu = "H20-3e",
                  .nodes = 2,
                  .gpus = 4,
                  .nics = "2 bonded RoCE per VM (1 per GPU)"}),
            "4 h20, 2 a server, roce, 2 x 400");
  EXPECT_EQ(Text({.nodes = 2, .gpus = 4, .nics = "2x400 IB"}),
            "4 h100-sxm, 2 a server, infiniband, 2 x 400");
}

TEST(MeasuredSetupTest, PartOfAServerKeepsTheNicsOfTheServer) {
  EXPECT_EQ(Text({.nodes = 16, .gpus = 16, .nics = "8x400 IB"}),
            "16 h100-sxm, 1 a server, infiniband, 8 x 400");
  EXPECT_EQ(Text({.nodes = 2, .gpus = 6, .nics = "1x400 per GPU"}),
            "6 h100-sxm, 3 a server, infiniband, 8 x 400");
}

TEST(MeasuredSetupTest, HostsOfARackAreOneServer) {
  const auto text = [](const std::string& gpu, uint32_t nodes, uint32_t gpus,
                       const std::string& nics) {
    return Text({.gpu = gpu,
                 .nodes = nodes,
                 .gpus = gpus,
                 .nics = nics,
                 .nvlink = "NVLink5 NVL72 (18 links, 900 GB/s/dir)"});
  };
  EXPECT_EQ(text("GB200 NVL72", 18, 72, "4x400 IB"), "72 gb200, 72 a server");
  EXPECT_EQ(text("GB200", 2, 8, "4x400 IB"), "8 gb200, 8 a server");
  EXPECT_EQ(text("GB300 NVL72", 16, 64, "4x800 IB"), "64 gb300, 64 a server");
  // 128 GPUs are 64 of each of two racks.
  EXPECT_EQ(text("GB200 NVL72", 32, 128, "4x400 IB"),
            "128 gb200, 64 a server, infiniband, 64 x 400");
  EXPECT_EQ(text("GB200 NVL72", 2, 144, "72x400 IB"),
            "144 gb200, 72 a server, infiniband, 72 x 400");
}

TEST(MeasuredSetupTest, ASystemThatIsNamedIsTaken) {
  const MeasuredRun run = {.gpu = "A100-SXM4-80GB",
                           .nodes = 2,
                           .gpus = 8,
                           .nics = "not stated",
                           .nvlink = "not stated",
                           .system = "Perlmutter"};
  EXPECT_EQ(Text(run),
            "8 a100-sxm-80gb, 4 a server, slingshot-sockets, 4 x 200");
  MeasuredRun with_nics = run;
  with_nics.nics = "4x200 Slingshot";
  EXPECT_EQ(Text(with_nics), "8 a100-sxm-80gb, 4 a server, slingshot, 4 x 200");
  MeasuredRun unknown = run;
  unknown.system = "perlmuter";
  EXPECT_THAT(Of(unknown), StatusIs(absl::StatusCode::kInvalidArgument,
                                    HasSubstr("did you mean \"perlmutter\"")));
}

TEST(MeasuredSetupTest, PairsHaveTheirBridgeAndMoreGpusPcie) {
  const auto interconnect = [](const std::string& gpu, uint32_t gpus) {
    const MeasuredRun run = {.gpu = gpu, .gpus = gpus, .nvlink = "pairs"};
    EXPECT_THAT(Text(run), HasSubstr(fmt::format("{} a server", gpus)));
    return ValueOrDie(Of(run)).system.interconnect.name;
  };
  EXPECT_EQ(interconnect("A100", 2), "nvlink3-bridge");
  EXPECT_EQ(interconnect("A100", 4), "pcie4");
  EXPECT_EQ(interconnect("H100", 2), "nvlink4-bridge");
  EXPECT_EQ(interconnect("H100", 4), "pcie5");
}

TEST(MeasuredSetupTest, SuperchipsAloneHaveNoNeighbours) {
  EXPECT_EQ(Text({.gpu = "GH200",
                  .nodes = 4,
                  .gpus = 4,
                  .nics = "1x400 IB",
                  .nvlink = ""}),
            "4 gh200, 1 a server, infiniband, 1 x 400");
  EXPECT_EQ(Text({.gpu = "GH200",
                  .nodes = 4,
                  .gpus = 16,
                  .nics = "4x200 Slingshot",
                  .nvlink = ""}),
            "16 gh200, 4 a server, slingshot, 4 x 200");
}

TEST(MeasuredSetupTest, SettingsAreNcclsVariables) {
  const NcclOptions options = OptionsOf(
      "NCCL_ALGO=Ring NCCL_MIN_CTAS=24 NCCL_IB_QPS_PER_CONNECTION=2", "2.27.7");
  EXPECT_EQ(options.version, (NcclVersion{2, 27}));
  EXPECT_EQ(options.min_channels, 24U);
  EXPECT_EQ(options.queue_pairs, 2U);
  const NcclChoices choices = options.choices_of(CollectiveKind::kAllReduce);
  EXPECT_TRUE(choices.allows(NcclAlgorithm::kRing));
  EXPECT_FALSE(choices.allows(NcclAlgorithm::kNvls));
  EXPECT_FALSE(OptionsOf("NCCL_NVLS_ENABLE=0 (Ring)").nvls);
}

TEST(MeasuredSetupTest, StatementsAreNotSettings) {
  for (const std::string env :
       {"default", "default; NCCL picked NVLS", "NCCL_NVLS_ENABLE=1 (NVLS)",
        "AWS ofi tuner",
        "NCCL_DEBUG=INFO NCCL_IB_HCA=mlx5_0..7 NCCL_P2P_LEVEL=NVL"}) {
    const NcclOptions options = OptionsOf(env);
    EXPECT_TRUE(options.choices.empty()) << env;
    EXPECT_TRUE(options.nvls) << env;
    EXPECT_FALSE(options.collnet) << env;
  }
}

TEST(MeasuredSetupTest, AnAlgorithmAloneWasAskedFor) {
  const auto choices = [](const std::string& env) {
    return OptionsOf(env).choices_of(CollectiveKind::kAllReduce);
  };
  EXPECT_TRUE(choices("NVLS").allows(NcclAlgorithm::kNvls));
  EXPECT_TRUE(choices("NVLS").allows(NcclAlgorithm::kNvlsTree));
  EXPECT_FALSE(choices("NVLS").allows(NcclAlgorithm::kRing));
  EXPECT_TRUE(choices("Ring").allows(NcclAlgorithm::kRing));
  EXPECT_FALSE(choices("Ring").allows(NcclAlgorithm::kTree));
}

TEST(MeasuredSetupTest, TheWayOfLaunchingIsKept) {
  const NcclOptions options =
      OptionsOf("CUDA graph (-G 1) symmetric registration (-R 2)");
  EXPECT_EQ(options.launch, Launch::kGraph);
  EXPECT_TRUE(options.symmetric);
  EXPECT_EQ(OptionsOf("default").launch, Launch::kHost);
  EXPECT_FALSE(OptionsOf("CUDA graph (-G 1) no registration").symmetric);
}

TEST(MeasuredSetupTest, AnUnknownVersionIsTheNewest) {
  const NcclVersion newest = NcclOptions{}.version;
  EXPECT_EQ(OptionsOf("default", "not stated").version, newest);
  EXPECT_EQ(OptionsOf("default", "2.4.8").version, newest);
  EXPECT_EQ(OptionsOf("default", "2.26.2+cuda12.8").version,
            (NcclVersion{2, 26}));
}

TEST(MeasuredSetupTest, WhatIsNotDescribedIsAnErrorThatSaysWhat) {
  const auto error = [](const std::string& message) {
    return StatusIs(absl::StatusCode::kInvalidArgument, message);
  };
  EXPECT_THAT(Of({.gpu = "MI300X"}), error("no system has the GPU \"MI300X\""));
  EXPECT_THAT(Of({.nodes = 2, .gpus = 16}), error("2 nodes without NICs"));
  EXPECT_THAT(
      Of({.nodes = 2, .gpus = 16, .nics = "1x100 TCP"}),
      error("TCP reaches other rates on each host: no constants hold for it"));
  EXPECT_THAT(Of({.gpu = "GB200",
                  .nodes = 101,
                  .gpus = 101,
                  .nics = "4x400 IB",
                  .nvlink = "NVL72"}),
              error("101 GPUs do not fill NVLink domains of 72"));
  EXPECT_THAT(Of({.env = "NCCL_NVLS_ENABLE=on"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("NCCL_NVLS_ENABLE")));
  // The row contradicts itself.
  EXPECT_THAT(Of({.nodes = 3}), error("8 GPUs do not divide by 3 nodes"));
}

}  // namespace
}  // namespace astra
