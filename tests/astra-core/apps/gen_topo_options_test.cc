#include "astra-core/apps/gen_topo_options.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "astra-core/base/sha256.h"
#include "tests/testing/command_lines.h"
#include "tests/testing/matchers.h"
#include "topology/topology_file.h"

namespace astra {
namespace {

using ::astra::testing::ParseArguments;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

absl::StatusOr<GenTopoOptions> TryRead(const std::string& arguments) {
  return ReadGenTopoOptions(
      ValueOrDie(ParseArguments(GenTopoOptionSpecs(), arguments)));
}
GenTopoOptions Read(const std::string& arguments) {
  return ValueOrDie(TryRead(arguments));
}
std::string FileOf(const std::string& arguments) {
  return FormatTopology(ValueOrDie(BuildCluster(Read(arguments).cluster)));
}

auto Says(std::string_view message) {
  return StatusIs(absl::StatusCode::kInvalidArgument, std::string(message));
}

// simai.md 1.6, the worked example.
TEST(GenTopoTest, WritesTheExampleOfEightGpus) {
  std::string expected =
      "18 8 1 9 24 H100\n"
      "8 9 10 11 12 13 14 15 16 17 \n";
  for (int gpu = 0; gpu < 8; ++gpu) {
    expected += fmt::format("{} 8 2880Gbps 0.000025ms 0\n", gpu);
    expected += fmt::format("{} {} 400Gbps 0.0005ms 0\n", gpu, 9 + gpu);
  }
  for (int asw = 9; asw < 17; ++asw) {
    expected += fmt::format("{} 17 400Gbps 0.0005ms 0\n", asw);
  }
  EXPECT_EQ(FileOf("-topo Spectrum-X -g 8 -psn 1"), expected);
}

// The hashes of what SimAI's generator writes.
TEST(GenTopoTest, WritesTheBytesOfSimAI) {
  EXPECT_EQ(Sha256(FileOf("-topo Spectrum-X -g 128 -gt A100 -bw 100Gbps -nvbw "
                          "2400Gbps")),
            "db2114fe21ffb5092432407eac13bf91ba7cefcc7cfcd7471fd483b0bf7e2705");
  EXPECT_EQ(Sha256(FileOf("-topo AlibabaHPN")),
            "750e2fe9f0de2536389fe4ed4e24eb68e1ca52ff8ee7975590eb5112f9c86cf0");
  EXPECT_EQ(Sha256(FileOf("-topo DCN+")),
            "6da18aac960df439e5706df9d7561a07c4908227e730109b44f8c4ccf10b35b5");
  EXPECT_EQ(Sha256(FileOf("-g 32 -bw 200Gbps -gt A100 -psn 8 --ro")),
            "fa911c0a42b252b5e65b0c32c1fabcae0b6e4e036ac484ba5ba0a11b574b1f3a");
  EXPECT_EQ(Sha256(FileOf("-topo Spectrum-X -g 8 -psn 1")),
            "4a8a393c66a4ce0ae8edd957f82e58e3ce30f1d81c9acd8eb107fe4270a210b6");
}

struct Golden {
  const char* arguments;
  std::string_view header;
  int64_t num_lines;
};

class GenTopoGoldenTest : public ::testing::TestWithParam<Golden> {};

// The table of simai.md 1.6.
TEST_P(GenTopoGoldenTest, HasTheHeaderAndLengthOfSimAIsFile) {
  const std::string text = FileOf(GetParam().arguments);
  EXPECT_EQ(text.substr(0, text.find('\n')), GetParam().header);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), GetParam().num_lines);
}

INSTANTIATE_TEST_SUITE_P(
    SimAI, GenTopoGoldenTest,
    ::testing::Values(
        Golden{"-topo AlibabaHPN --dp", "17640 8 1920 360 60480 H100", 60482},
        Golden{"-topo AlibabaHPN", "17640 8 1920 360 74880 H100", 74882},
        Golden{"-topo AlibabaHPN -g 64 -asn 16 -psn 16", "104 8 8 32 448 H100",
               450},
        Golden{"-topo DCN+ --dt", "592 8 64 16 1600 H100", 1602},
        Golden{"-topo DCN+", "592 8 64 16 1088 H100", 1090},
        Golden{"-topo DCN+ -g 256 -psn 64", "356 8 32 68 768 H100", 770},
        Golden{"--ro -g 32 -gt A100 -psn 8", "52 8 4 16 128 A100", 130},
        Golden{"-topo Spectrum-X", "4736 8 512 128 12288 H100", 12290},
        Golden{"-topo Spectrum-X -g 72 -gps 36 -nsps 9 -psn 4",
               "130 36 18 40 864 H100", 866},
        Golden{"-topo Spectrum-X -g 16 -nsps 2 -psn 2", "30 8 4 10 64 H100",
               66}),
    [](const auto& test) {
      std::string name = test.param.arguments;
      std::replace_if(
          name.begin(), name.end(),
          [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

// simai.md 1.5.
TEST(GenTopoOptionsTest, NamesTheFileAsSimAIDoes) {
  EXPECT_EQ(Read("-topo Spectrum-X -g 128 -gt A100 -bw 100Gbps").output,
            "Spectrum-X_128g_8gps_100Gbps_A100");
  EXPECT_EQ(Read("-topo AlibabaHPN -g 64").output,
            "AlibabaHPN_64g_8gps_DualToR_SinglePlane_200Gbps_H100");
  EXPECT_EQ(Read("-topo AlibabaHPN --dp").output,
            "AlibabaHPN_15360g_8gps_DualToR_DualPlane_200Gbps_H100");
  EXPECT_EQ(Read("-topo DCN+").output, "DCN+SingleToR_512g_8gps_400Gbps_H100");
  EXPECT_EQ(Read("-topo DCN+ --dt").output,
            "DCN+DualToR_512g_8gps_200Gbps_H100");
  EXPECT_EQ(Read("").output, "No_Rail_Opti_32g_8gps_SingleToR_400Gbps_H100");
  EXPECT_EQ(Read("--dt -gps 4").output,
            "No_Rail_Opti_32g_4gps_DualToR_400Gbps_H100");
  EXPECT_EQ(Read("--ro").output, "Rail_Opti_SingleToR_32g_8gps_400Gbps_H100");
  EXPECT_EQ(Read("--ro --dt").output,
            "Rail_Opti_32g_8gps_DualToR_SinglePlane_400Gbps_H100");
  EXPECT_EQ(Read("--ro --dt --dp").output,
            "Rail_Opti_32g_8gps_DualToR_DualPlane_400Gbps_H100");
  EXPECT_EQ(Read("-topo custom -o my/file").output, "my/file");
}

// A unit with a slash is a rate of ns-3, but no part of a file name.
TEST(GenTopoOptionsTest, RefusesARateThatIsNoPartOfAFileName) {
  EXPECT_THAT(TryRead("-bw 400Gb/s"),
              Says("the rate \"400Gb/s\" cannot be part of a file name; use -o "
                   "FILE"));
  EXPECT_TRUE(TryRead("-bw 400Gb/s -o file").ok());
}

TEST(GenTopoOptionsTest, EveryOptionSetsItsParameter) {
  const GenTopoOptions options = Read(
      "--ro --dt --dp -g 64 -gps 4 -nsps 2 -npa 3 -psn 6 -app 96 --pods 2 -csn "
      "12 -bw 1Gbps -nvbw 2Gbps -apbw 3Gbps -pcbw 4Gbps -l 5ns -nl 6ns -er "
      "0.25 -gt B200 --describe");
  const ClusterParameters& p = options.cluster;
  EXPECT_TRUE(p.rail_optimised && p.dual_tor && p.dual_plane);
  EXPECT_EQ(p.num_gpus, 64);
  EXPECT_EQ(p.gpus_per_server, 4);
  EXPECT_EQ(p.nv_switches_per_server, 2);
  EXPECT_EQ(p.nics_per_asw, 3);
  EXPECT_EQ(p.num_psws, 6);
  EXPECT_EQ(p.asws_per_psw, 96);
  EXPECT_EQ(p.num_pods, 2);
  EXPECT_EQ(p.num_cores, 12);
  EXPECT_EQ(p.bandwidth, "1Gbps");
  EXPECT_EQ(p.nvlink_bandwidth, "2Gbps");
  EXPECT_EQ(p.asw_psw_bandwidth, "3Gbps");
  EXPECT_EQ(p.psw_core_bandwidth, "4Gbps");
  EXPECT_EQ(p.latency, "5ns");
  EXPECT_EQ(p.nvlink_latency, "6ns");
  EXPECT_EQ(p.error_rate, "0.25");
  EXPECT_EQ(p.gpu_type, "B200");
  EXPECT_TRUE(options.describe);
  EXPECT_FALSE(Read("").describe);
  // The links above the PSWs are as fast as those below, unless they differ.
  EXPECT_EQ(Read("--pods 2 -apbw 3Gbps").cluster.psw_core_bandwidth, "3Gbps");
}

// The cables of storage are those of NICs unless they have a rate.
TEST(GenTopoOptionsTest, StorageStandsBehindTheTemplate) {
  EXPECT_FALSE(Read("").storage.has_value());
  const GenTopoOptions options = Read("-g 16 -bw 100Gbps -l 5ns --storage 3");
  EXPECT_EQ(options.storage->servers, 3u);
  EXPECT_EQ(options.storage->nics, 1u);
  EXPECT_EQ(options.storage->tier, 1u);
  EXPECT_EQ(options.storage->cable, (CableSpec{"100Gbps", "5ns", "0"}));
  EXPECT_TRUE(options.output.ends_with("_3storage")) << options.output;
  const StorageSpec storage =
      *Read("--storage 1 --storage-nics 2 --storage-tier 2 --storage-bw 1Gbps")
           .storage;
  EXPECT_EQ(storage.nics, 2u);
  EXPECT_EQ(storage.tier, 2u);
  EXPECT_EQ(storage.cable.rate, "1Gbps");
  EXPECT_THAT(TryRead("--storage 1 --storage-bw 1"),
              Says("--storage-bw: \"1\" is not a rate: expected a number and a "
                   "unit, such as 400Gbps"));
}

TEST(GenTopoOptionsTest, APodHasTheTemplatesGpus) {
  const GenTopoOptions options = Read("-topo Spectrum-X --pods 25");
  EXPECT_EQ(options.cluster.num_gpus, 102'400);
  EXPECT_EQ(options.counts.num_asws, 25 * 64);
  EXPECT_EQ(options.counts.num_psws, 25 * 64);
  EXPECT_EQ(options.counts.num_cores, 64 * 64);  // PSWs x ports up.
  EXPECT_EQ(options.output, "Spectrum-X_102400g_8gps_400Gbps_H100_25pods");
  EXPECT_EQ(Read("-topo Spectrum-X --pods 2 -g 64").cluster.num_gpus, 64);
}

TEST(GenTopoOptionsTest, RacksOfNvlHave72GpusOr36) {
  EXPECT_EQ(Read("-topo NVL").output, "NVL_576g_72gps_400Gbps_GB200");
  EXPECT_EQ(Read("-topo NVL").counts.num_nv_switches, 8 * 18);
  EXPECT_EQ(Read("-topo NVL -gps 36").counts.num_nv_switches, 16 * 9);
  EXPECT_EQ(Read("-topo NVL -gps 36 -g 72").output,
            "NVL_72g_36gps_400Gbps_GB200");
  EXPECT_THAT(TryRead("-topo NVL -g 100"),
              Says("100 GPUs do not divide into servers of 72; the next number "
                   "that does is 144"));
}

// Scripts of SimAI's users carry an -asn, often a wrong one.
TEST(GenTopoOptionsTest, WarnsOfAnotherAswCountThanItComputes) {
  EXPECT_THAT(Read("-topo Spectrum-X -g 128 -asn 64").warnings,
              ElementsAre("--asw-switch-num 64 has no effect: the other "
                          "options make 8 ASWs"));
  EXPECT_THAT(Read("-topo Spectrum-X -g 128 -asn 8").warnings, IsEmpty());
  EXPECT_THAT(Read("-topo Spectrum-X -g 128 -gt B2000").warnings,
              ElementsAre("--gpu-type \"B2000\" is not a known GPU; did you "
                          "mean \"b200\"? (gen_workload --list-gpus lists "
                          "all)"));
  for (const char* type : {"A100", "A800", "H100", "H800", "H20", "h100",
                           "GB200", "h100-sxm", "GPU", "NONE"}) {
    EXPECT_THAT(
        Read(fmt::format("-topo Spectrum-X -g 128 -gt {}", type)).warnings,
        IsEmpty());
  }
  EXPECT_THAT(Read("-topo Spectrum-X -g 128").warnings, IsEmpty());
  EXPECT_EQ(FileOf("-g 32 -asn 5"), FileOf("-g 32"));
}

TEST(GenTopoOptionsTest, RefusesGpusThatDoNotDivide) {
  EXPECT_THAT(TryRead("-topo Spectrum-X -g 12"),
              Says("12 GPUs do not divide into servers of 8; the next number "
                   "that does is 16"));
  EXPECT_THAT(TryRead("-g 32 --pods 3"),
              Says("4 servers do not divide into 3 pods; the next GPU count "
                   "that does is 48"));
}

TEST(GenTopoOptionsTest, RefusesMoreThanAPodHolds) {
  EXPECT_THAT(TryRead("-topo DCN+ -g 520"),
              Says("520 GPUs per pod need 9 segments of 64 GPUs, but a PSW "
                   "with 8 ports for ASWs connects 8, that is 512 GPUs; use "
                   "--pods, or larger --nics-per-aswitch or --asw-per-psw"));
  // SimAI's rails of 72 GPUs need more ports than a PSW has: simai.md 1.4.
  EXPECT_THAT(TryRead("--ro -gps 72 -g 72"),
              Says("72 GPUs per pod need 1 segments of 4608 GPUs, but a PSW "
                   "with 64 ports for ASWs connects 0, that is 0 GPUs; use "
                   "--pods, or larger --nics-per-aswitch or --asw-per-psw"));
}

TEST(GenTopoOptionsTest, RefusesOptionsThatContradictOneAnother) {
  EXPECT_THAT(TryRead("--dp"),
              Says("dual plane needs a rail-optimised layout with dual ToR"));
  EXPECT_THAT(TryRead("--ro --dp"), Says("dual plane needs dual ToR"));
  EXPECT_THAT(TryRead("-topo Spectrum-X --dt"),
              Says("Spectrum-X has one ToR and one plane: --dt and --dp "
                   "contradict it; use -topo AlibabaHPN, or --ro --dt without "
                   "-topo"));
  EXPECT_THAT(TryRead("-topo DCN+ --ro"),
              Says("DCN+ has no rails and one plane: --ro and --dp contradict "
                   "it; use -topo Spectrum-X or AlibabaHPN"));
  EXPECT_THAT(TryRead("-topo NVL --dp"),
              Says("NVL has one ToR and one plane: --dt and --dp contradict "
                   "it"));
  EXPECT_THAT(TryRead("-topo NVL -gps 8"),
              Says("--gpus-per-server is 8: racks of NVL have 36 or 72 GPUs"));
}

TEST(GenTopoOptionsTest, RefusesOptionsForThingsThatAreNotThere) {
  for (const auto& [arguments, message] :
       {std::pair{"-csn 4",
                  "--core-switch-num has no effect: one pod has no core "
                  "switches"},
        std::pair{"-pcbw 400Gbps",
                  "--pc-bandwidth has no effect: one pod has no core "
                  "switches"},
        std::pair{"-nsps 0 -nvbw 400Gbps",
                  "--nvlink-bw has no effect: there are no NVSwitches"},
        std::pair{"-nsps 0 -nl 1ns",
                  "--nv-latency has no effect: there are no NVSwitches"},
        std::pair{"-psn 0 -apbw 400Gbps",
                  "--ap-bandwidth has no effect: there are no PSWs"},
        std::pair{"--storage-nics 2",
                  "--storage-nics has no effect: --storage adds storage "
                  "servers"}}) {
    EXPECT_THAT(TryRead(arguments), Says(message));
  }
  EXPECT_TRUE(TryRead("--pods 2 -csn 64 -pcbw 1Gbps -nvbw 1Gbps").ok());
}

TEST(GenTopoOptionsTest, RefusesAnUnknownTemplate) {
  EXPECT_THAT(
      TryRead("-topo NVL72"),
      StatusIs(absl::StatusCode::kNotFound,
               "unknown topology \"NVL72\"; did you mean \"NVL\"? (known: "
               "AlibabaHPN, DCN+, NVL, Spectrum-X, custom)"));
}

TEST(GenTopoOptionsTest, RefusesCountsThatAreNone) {
  for (const char* name : {"gpus", "gpus-per-server", "nics-per-aswitch",
                           "asw-per-psw", "pods", "core-switch-num"}) {
    for (const char* value : {"0", "-1", "1.5", "16777217", "many"}) {
      EXPECT_THAT(TryRead(fmt::format("--{} {}", name, value)),
                  Says(fmt::format("--{} is \"{}\": expected a whole number "
                                   "from 1 to 16777216",
                                   name, value)));
    }
  }
  for (const char* name :
       {"nv-switch-per-server", "psw-switch-num", "asw-switch-num"}) {
    EXPECT_THAT(TryRead(fmt::format("--{} -1", name)),
                Says(fmt::format("--{} is \"-1\": expected a whole number from "
                                 "0 to 16777216",
                                 name)));
  }
}

TEST(GenTopoOptionsTest, RefusesRatesTimesAndNamesThatAreNone) {
  for (const char* name : {"bandwidth", "nvlink-bw", "ap-bandwidth"}) {
    EXPECT_THAT(TryRead(fmt::format("--{} 400", name)),
                Says(fmt::format("--{}: \"400\" is not a rate: expected a "
                                 "number and a unit, such as 400Gbps",
                                 name)));
  }
  for (const char* name : {"latency", "nv-latency"}) {
    EXPECT_THAT(TryRead(fmt::format("--{} 25", name)),
                Says(fmt::format("--{}: \"25\" is not a time: expected a "
                                 "number and a unit of s, ms, us, ns or ps, "
                                 "such as 500ns",
                                 name)));
  }
  EXPECT_THAT(TryRead("-er 2"),
              Says("--error-rate: the probability is \"2\": expected a number "
                   "from 0 to 1"));
  EXPECT_THAT(TryRead("-er 1"),
              Says("--error-rate: a link that loses all delivers nothing"));
  EXPECT_THAT(TryRead("-gt A/B"),
              Says("--gpu-type: expected one word without \"/\""));
}

TEST(GenTopoOptionsTest, ADiscoveredFabricHasServersOfATypeOrOfNumbers) {
  const GenTopoOptions typed = Read(
      "--ibnetdiscover a/ib.txt --server-type dgx-h100 --hosts h -l 600ns");
  ASSERT_TRUE(typed.discovered.has_value());
  EXPECT_EQ(typed.output, "ib.topo");
  EXPECT_EQ(typed.discovered->file, "a/ib.txt");
  EXPECT_EQ(typed.discovered->server_type, "dgx-h100");
  EXPECT_EQ(typed.discovered->hosts, "h");
  EXPECT_EQ(typed.discovered->latency, "600ns");
  const GenTopoOptions numbers =
      Read("--ibnetdiscover ib.txt -gps 4 -gt A100 -nvbw 2400Gbps -nl 50ns");
  EXPECT_EQ(numbers.discovered->gpus_per_server, 4);
  EXPECT_EQ(numbers.discovered->gpu_type, "A100");
  EXPECT_EQ(numbers.discovered->nvlink_rate, "2400Gbps");
  EXPECT_EQ(numbers.discovered->nvlink_latency, "50ns");
}

TEST(GenTopoOptionsTest, RefusesWhatHasNoEffectOnADiscoveredFabric) {
  for (const auto& [arguments, message] :
       std::initializer_list<std::pair<const char*, const char*>>{
           {"--ibnetdiscover ib -topo NVL",
            "--topology has no effect: --ibnetdiscover says what the fabric "
            "is"},
           {"--ibnetdiscover ib -g 16",
            "--gpus has no effect: --ibnetdiscover says what the fabric is"},
           {"--ibnetdiscover ib --bandwidth 100Gbps",
            "--bandwidth has no effect: --ibnetdiscover says what the fabric "
            "is"},
           {"--ibnetdiscover ib --fabric f",
            "--ibnetdiscover has no effect: --fabric says what the fabric is"},
           {"--ibnetdiscover ib --server-type a --nccl-topology b",
            "--server-type has no effect beside --nccl-topology"},
           {"--ibnetdiscover ib -gt A/B",
            "--gpu-type: expected one word without \"/\""},
           {"--ibnetdiscover ib -o ib",
            "--output is the file of --ibnetdiscover: expected another"},
           {"--ibnetdiscover ib --hosts h --draw h",
            "--draw is the file of --hosts: expected another"},
           {"--server-type dgx-h100",
            "--server-type has no effect without --ibnetdiscover: a file of "
            "--fabric names types of servers"},
           {"--hosts h", "--hosts has no effect without --ibnetdiscover"},
       }) {
    EXPECT_THAT(TryRead(arguments), Says(message)) << arguments;
  }
}

}  // namespace
}  // namespace astra
