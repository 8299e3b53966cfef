// simai_collective as a user runs it.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "astra-core/apps/collective/simai_collective_output.h"
#include "astra-core/apps/collective/simai_collective_sweep.h"
#include "tests/astra-core/apps/collective/collective_program.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/programs.h"

namespace astra {
namespace {

using ::astra::testing::ProgramResult;
using ::astra::testing::RunProgram;
using ::astra::testing::WriteText;
using ::testing::ContainsRegex;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using SimaiCollectiveTest = CollectiveProgramTest;

size_t NumLines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(NcclTestsNumberTest, KeepsToItsColumns) {
  EXPECT_EQ(NcclTestsNumber(0.004, 6), "  0.00");
  EXPECT_EQ(NcclTestsNumber(99.999, 7), " 100.00");
  EXPECT_EQ(NcclTestsNumber(1234.56, 7), "1234.56");
  EXPECT_EQ(NcclTestsNumber(12345.6, 7), "12345.6");
  EXPECT_EQ(NcclTestsNumber(123456.7, 7), " 123457");
  EXPECT_EQ(NcclTestsNumber(12345678, 7), "1.2e+07");
}

TEST(NvSwitchesDoTest, AddUpButDoNotMultiply) {
  EXPECT_TRUE(NvSwitchesDo("sum", "float"));
  EXPECT_TRUE(NvSwitchesDo("max", "half"));
  EXPECT_FALSE(NvSwitchesDo("max", "float"));
  EXPECT_FALSE(NvSwitchesDo("prod", "half"));
  EXPECT_FALSE(NvSwitchesDo("sum", "int8"));
}

TEST_F(SimaiCollectiveTest, PrintsAndWritesALineForEachSize) {
  const std::string out = Print("--system dgx-h100 --servers 4 -b 1M -e 4M");
  EXPECT_THAT(out, StartsWith("# simai_collective 0.1.0: all_reduce\n"
                              "# group      32 GPUs on 4 servers\n"));
  EXPECT_THAT(
      out, HasSubstr("#       size         count      type   redop    root     "
                     "time   algbw   busbw  algorithm  protocol  channels  "
                     "bottleneck\n"
                     "#        (B)    (elements)                               "
                     "(us)  (GB/s)  (GB/s)\n"
                     "     1048576        262144     float     sum      -1  "));
  EXPECT_THAT(out, HasSubstr("\n# Avg bus bandwidth    : "));
  EXPECT_THAT(
      out, EndsWith("results    results/all_reduce: collective.csv run.json\n"
                    "finished   all_reduce: 3 rows\n"));
  const std::string csv = Read("results/all_reduce/collective.csv");
  EXPECT_THAT(csv, StartsWith("bytes,count,type,redop,root,time_us,algbw_GBps,"
                              "busbw_GBps,algorithm,protocol,channels,bound_by,"
                              "bottleneck_link,source\n"
                              "1048576,262144,float,sum,-1,"));
  EXPECT_EQ(NumLines(csv), 4u);
  EXPECT_THAT(Read("results/all_reduce/run.json"),
              HasSubstr("\"system\": \"dgx-h100\""));
}

// At 4 MiB the bytes of a chunk go through seven ranks one after another, which
// takes longer than the closed form, whatever the latencies are.
TEST_F(SimaiCollectiveTest, MessagesOfABroadcastTakeTheTimeOfItsClosedForm) {
  const auto times_us = [&](const std::string& fidelity) {
    Print("--system dgx-h100 --op broadcast -b 1M -e 16M -f 4 --fidelity " +
          fidelity);
    const std::vector<std::string> lines =
        absl::StrSplit(Read("results/broadcast/collective.csv"), '\n');
    std::vector<double> times;
    for (size_t i = 1; i + 1 < lines.size(); ++i) {
      const std::vector<std::string> cells = absl::StrSplit(lines[i], ',');
      times.push_back(std::stod(cells[5]));
    }
    return times;
  };
  const std::vector<double> closed = times_us("closed-form");
  ASSERT_EQ(closed.size(), 3u);
  EXPECT_THAT(times_us("analytical"),
              ElementsAre(DoubleNear(closed[0], 0.01 * closed[0]),
                          DoubleNear(closed[1], 0.01 * closed[1]),
                          DoubleNear(closed[2], 0.01 * closed[2])));
}

TEST_F(SimaiCollectiveTest, CountsElementsOfPartsAsNcclTestsDoes) {
  const std::string size = " --system dgx-h100 -b 1000 -e 1000 --op ";
  EXPECT_THAT(Print(size + "all_gather"),
              HasSubstr("\n         896            28     float    none      "
                        "-1  "));
  EXPECT_THAT(Print(size + "reduce --root 2 -d half"),
              HasSubstr("\n        1000           500      half     sum       "
                        "2  "));
}

TEST_F(SimaiCollectiveTest, LeavesOutSizesThatAreTooSmall) {
  const ProgramResult result =
      Run("--system dgx-h100 --op alltoall -b 64 -e 256");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.error,
            "simai_collective: warning: sizes up to 64 B are left out: too "
            "little for alltoall of float over 8 ranks\n");
  EXPECT_THAT(result.out, EndsWith("finished   alltoall: 2 rows\n"));
  ExpectRefused("--system dgx-h100 --op alltoall -b 8 -e 64",
                "--max-bytes is 64: too little for alltoall of float over 8 "
                "ranks");
}

// Source: what NCCL 2.29 prints on 4 H100 (NCCL_DEBUG_SUBSYS=TUNING), latency
// and bandwidth of each candidate.
TEST_F(SimaiCollectiveTest, TuningIsThatOfNccl) {
  const std::string out = Print(
      "--system dgx-h100 --gpus 4 -b 1G -e 1G --tuning --nccl "
      "NCCL_VERSION=2.29");
  EXPECT_THAT(out, ContainsRegex("Tree +LL +[0-9]+ +10\\.4 +43\\.6 "));
  EXPECT_THAT(out, ContainsRegex("Tree +LL128 +[0-9]+ +21\\.5 +128\\.8 "));
  EXPECT_THAT(out, ContainsRegex("Tree +Simple +[0-9]+ +32\\.4 +165\\.6 "));
  EXPECT_THAT(out, ContainsRegex("Ring +LL +[0-9]+ +10\\.2 +94\\.0 "));
  EXPECT_THAT(out, ContainsRegex("Ring +LL128 +[0-9]+ +25\\.4 +220\\.8 "));
  EXPECT_THAT(out, ContainsRegex("Ring +Simple +[0-9]+ +28\\.8 +240\\.0 .*<-"));
  EXPECT_THAT(out, ContainsRegex("NVLS +Simple +[0-9]+ +25\\.0 +160\\.0 "));
}

TEST_F(SimaiCollectiveTest, NvlsIsNoCandidateForProducts) {
  const std::string run = "--system dgx-h100 -b 1G -e 1G --tuning --redop ";
  EXPECT_THAT(Print(run + "sum"), HasSubstr("\nNVLS "));
  EXPECT_THAT(Print(run + "prod"), Not(HasSubstr("\nNVLS ")));
}

TEST_F(SimaiCollectiveTest, AnOlderNcclLacksWhatCameLater) {
  const std::string pat =
      "--system dgx-h100 --servers 16 -g 1 --op all_gather -b 64K -e 64K "
      "--tuning --nccl NCCL_VERSION=";
  EXPECT_THAT(Print(pat + "2.23"), HasSubstr("\nPAT "));
  EXPECT_THAT(Print(pat + "2.22"), Not(HasSubstr("\nPAT ")));
  ExpectRefused(pat + "2.22,NCCL_ALGO=PAT",
                "NCCL 2.22 has no algorithm PAT: expected 2.23 or later");
  const std::string symmetric =
      "--system dgx-h100 --symmetric -b 64M -e 64M --nccl NCCL_VERSION=";
  EXPECT_THAT(Print(symmetric + "2.27"), HasSubstr("  Symmetric  "));
  ExpectRefused(symmetric + "2.26",
                "NCCL 2.26 has no kernels for symmetric buffers: expected 2.27 "
                "or later");
}

TEST_F(SimaiCollectiveTest, AGroupMayBeAnyRanks) {
  EXPECT_THAT(Print("--system dgx-h100 --servers 3 --ranks 0,8,16 -b 1M -e 1M"),
              HasSubstr("# group      3 GPUs on 3 servers, of 24 GPUs\n"));
  ExpectRefused("--system dgx-h100 --ranks 0,8 -b 1M -e 1M",
                "rank 8: the topology has 8 GPUs");
}

TEST_F(SimaiCollectiveTest, ThreadsChangeNothing) {
  for (const std::string op : {"alltoall", "all_reduce --algorithm ring"}) {
    const std::string run =
        "--system dgx-h100 --servers 4 -b 1M -e 4M "
        "--fidelity packet -o out --op " +
        op;
    const std::string out = Print(run);
    const std::string csv = Read("out/collective.csv");
    for (const std::string threads : {" -t 2", " --threads 3"}) {
      EXPECT_EQ(Print(run + threads), out);
      EXPECT_EQ(Read("out/collective.csv"), csv);
    }
  }
}

TEST_F(SimaiCollectiveTest, SaysOnceWhyThreadsHaveNoEffect) {
  const ProgramResult result =
      Run("--system dgx-h100 --servers 2 --ranks 0,8 -b 32M -e 64M "
          "--fidelity packet --algorithm tree -t 2");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.error,
            "simai_collective: warning: --threads has no effect: a message "
            "waits at its sender until another one is delivered\n");
}

TEST_F(SimaiCollectiveTest, RunsOnTopologyFiles) {
  ASSERT_EQ(
      RunProgram("gen_topo", "-topo Spectrum-X -g 16 -o t.txt", folder_.path())
          .exit_code,
      0);
  const std::string out = Print("--system dgx-h100 -n t.txt -b 1M -e 1M");
  EXPECT_THAT(out, HasSubstr("# group      16 GPUs on 2 servers\n"));
  EXPECT_THAT(out, HasSubstr("# topology   t.txt, whose rates go before "
                             "these\n"));
}

TEST_F(SimaiCollectiveTest, RunsOver1024Gpus) {
  EXPECT_THAT(Print("--system dgx-h100 --gpus 1024"),
              EndsWith("finished   all_reduce: 24 rows\n"));
}

TEST_F(SimaiCollectiveTest, RunsEveryMessageOfANamedAlgorithm) {
  const std::string run = "--system dgx-h100 --servers 2 -b 1G -e 1G ";
  EXPECT_THAT(Print(run + "--algorithm halving_doubling"),
              ContainsRegex("  halving_doubling  Simple +8  "));
  ExpectRefused(run + "--algorithm nvls",
                "nvls needs a group on one server; this one is on 2 servers");
}

// Two GPUs that swap what they have, then have the same.
TEST_F(SimaiCollectiveTest, RunsSchedulesOfUsers) {
  WriteText(folder_.PathOf("swap.yaml"),
            "name: swap\nkind: all-reduce\nranks: 2\nchunks: 2\nsteps:\n"
            "  - {send: 0, to: 1, chunk: 1, reduce: true}\n"
            "  - {send: 1, to: 0, chunk: 0, reduce: true}\n"
            "  - {send: 0, to: 1, chunk: 0}\n"
            "  - {send: 1, to: 0, chunk: 1}\n");
  EXPECT_THAT(Print("--system dgx-h100 --gpus 2 -b 1G -e 1G --algorithm "
                    "swap.yaml"),
              ContainsRegex("  swap +Simple +1  "));
}

// On a ring of 2 ranks with one channel, which begins at the lower GPU, each
// rank sends the other's half (chunk 0 is that of GPU 3, the first of the
// group), then its own, which waits for what the other one has sent.
TEST_F(SimaiCollectiveTest, WritesTheMessagesOfWhatNcclChooses) {
  Print(
      "--system dgx-h100 --gpus 4 --ranks 3,1 -b 1K -e 1K --flows f.csv "
      "--nccl NCCL_ALGO=Ring,NCCL_MAX_NCHANNELS=1");
  EXPECT_EQ(Read("f.csv"),
            "id,source,target,bytes,channel,chunk,depends_on\n"
            "0,1,3,512,0,0,\n"
            "1,3,1,512,0,1,\n"
            "2,1,3,512,0,1,1\n"
            "3,3,1,512,0,0,0\n");
}

// In nccl-tests each rank sends to the next one and the last to the first.
TEST_F(SimaiCollectiveTest, EachRankOfASendRecvSendsToTheNext) {
  const std::string head = "id,source,target,bytes,channel,chunk,depends_on\n";
  const std::string run =
      "--system dgx-h100 --op sendrecv -b 1K -e 1K --flows f.csv ";
  for (const std::string algorithm : {"", " --algorithm direct"}) {
    Print(run + "--ranks 3,1,2" + algorithm);
    EXPECT_EQ(Read("f.csv"), head +
                                 "0,3,1,1024,0,0,\n"
                                 "1,1,2,1024,0,0,\n"
                                 "2,2,3,1024,0,0,\n");
  }
  Print(run + "--gpus 2");
  EXPECT_EQ(Read("f.csv"), head + "0,0,1,1024,0,0,\n1,1,0,1024,0,0,\n");
}

// Returns the time of a row of a collective.csv that has one.
double TimeUs(const std::string& csv) {
  constexpr int kTimeColumn = 5;
  size_t begin = csv.find('\n') + 1;
  for (int i = 0; i < kTimeColumn; ++i) begin = csv.find(',', begin) + 1;
  return std::stod(csv.substr(begin));
}

TEST_F(SimaiCollectiveTest, ASendRecvTakesAsLongByMessages) {
  const auto us = [&](const std::string& arguments) {
    Print("--system dgx-h100 --op sendrecv -b 1M -e 1M -o d " + arguments);
    return TimeUs(Read("d/collective.csv"));
  };
  for (const std::string group : {"--gpus 8", "--servers 2"}) {
    const double closed_us = us(group);
    for (const std::string fidelity : {"analytical", "flow", "packet"}) {
      EXPECT_NEAR(us(group + " --fidelity " + fidelity), closed_us,
                  0.02 * closed_us)
          << group << ' ' << fidelity;
    }
  }
}

// In chains of 64 KiB chunks the latencies of chunks bound the messages, though
// bytes are most of the closed form.
TEST_F(SimaiCollectiveTest, MessagesOfAChainTakeTheTimeOfItsClosedForm) {
  const auto us = [&](const std::string& fidelity) {
    Print(
        "--system dgx-h100 --servers 2 --ranks 0,1,8,9 -b 8M -e 8M -o d --nccl "
        "NCCL_ALGO=CollNetChain,NCCL_COLLNET_ENABLE=1 --fidelity " +
        fidelity);
    return TimeUs(Read("d/collective.csv"));
  };
  const double closed = us("closed-form");
  EXPECT_NEAR(us("analytical"), closed, 0.005 * closed);
}

// Across servers messages have several paths. All of a gather end at one NIC,
// which takes as long as that of the root of a scatter.
TEST_F(SimaiCollectiveTest, AGatherTakesAsLongAsAScatter) {
  ASSERT_EQ(
      RunProgram("gen_topo", "-topo Spectrum-X -g 16 -o t.txt", folder_.path())
          .exit_code,
      0);
  const auto us = [&](const std::string& op, const std::string& fidelity) {
    Print("--system dgx-h100 -n t.txt -b 16M -e 16M -o d --op " + op +
          " --fidelity " + fidelity);
    return TimeUs(Read("d/collective.csv"));
  };
  const double scatter_us = us("scatter", "closed-form");
  EXPECT_NEAR(us("gather", "closed-form"), scatter_us, 0.01 * scatter_us);
  EXPECT_NEAR(us("gather", "flow"), scatter_us, 0.15 * scatter_us);
  // Congestion control starts too late for so short messages.
  EXPECT_NEAR(us("gather", "packet"), scatter_us, 0.5 * scatter_us);
}

// Two GPUs of a server share a NIC. The closed form is of one pair of ranks;
// by messages two pairs halve the rate.
TEST_F(SimaiCollectiveTest, MessagesOfASendRecvShareNics) {
  const auto us = [&](const std::string& fidelity) {
    Print(
        "--system aws-p4d --servers 2 --ranks 0,8,1,9 --op sendrecv -b 1G "
        "-e 1G -o d --fidelity " +
        fidelity);
    return TimeUs(Read("d/collective.csv"));
  };
  const double slowdown = us("flow") / us("closed-form");
  EXPECT_GT(slowdown, 1.8);
  EXPECT_LT(slowdown, 2.2);
}

TEST_F(SimaiCollectiveTest, WritesMessagesToAndFromSwitches) {
  Print(
      "--system dgx-h100 --gpus 4 -b 1K -e 1K --flows f.csv --nccl "
      "NCCL_ALGO=NVLS,NCCL_MAX_NCHANNELS=1");
  EXPECT_THAT(Read("f.csv"), HasSubstr(",nvswitch:0.0,"));
}

TEST_F(SimaiCollectiveTest, SwitchesOfTheFabricAddUp) {
  const std::string run = "--system dgx-h100 --servers 2 -b 1M -e 1M ";
  EXPECT_THAT(Print(run + "--algorithm collnet_direct --flows f.csv"),
              ContainsRegex("  collnet_direct  Simple +1  "));
  EXPECT_THAT(Read("f.csv"), HasSubstr(",reducer:0,"));
}

TEST_F(SimaiCollectiveTest, NoFlowsFileIsLeftBehindByAFailure) {
  ExpectRefused("--system dgx-h100 -b 1K -e 1K --flows none/f.csv",
                "none/f.csv: cannot be written: No such file or directory");
  ExpectRefused(
      "--system dgx-h100 --gpus 8192 --op alltoall -b 1G -e 1G "
      "--algorithm direct --flows f.csv",
      "67100672 messages: more than the limit of 50000000; take "
      "fewer GPUs or channels");
}

// Invented times.
constexpr std::string_view kLog =
    "# nThread 1 nGpus 2 minBytes 1024 maxBytes 1048576 step: 1024(factor) "
    "warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n"
    "#  Rank  0 Group  0 Pid  7 on node1 device  0 [0x1b] NVIDIA H100 80GB\n"
    "#  Rank  1 Group  0 Pid  7 on node1 device  1 [0x43] NVIDIA H100 80GB\n"
    "NCCL version 2.27.3+cuda12.8\n"
    "#       size  count   type  redop  root   time  algbw  busbw #wrong   time"
    "  algbw  busbw #wrong\n"
    "#        (B)  (elements)               (us)  (GB/s)  (GB/s)          (us)"
    "  (GB/s)  (GB/s)\n"
    "  1024     256  float  sum  -1  20.00   0.05   0.05  0  21.00   0.05   "
    "0.05  0\n"
    "  1048576  262144  float  sum  -1  40.00  26.21  26.21  0  41.00  25.58  "
    "25.58  0\n";

TEST_F(SimaiCollectiveTest, ComparesWithLogsOfNcclTests) {
  WriteText(folder_.PathOf("a.log"), kLog);
  const std::string run = "--compare a.log --system dgx-h100 --op all_reduce ";
  const std::string out = Print(run + "--out d");
  EXPECT_THAT(out, StartsWith("# group      2 GPUs on 1 server\n"));
  EXPECT_THAT(out, HasSubstr("\n# NCCL       2.27, host launch\n"));
  EXPECT_THAT(out, ContainsRegex("\n        1024         20\\.00  "));
  EXPECT_THAT(out, EndsWith("results    d: comparison.csv comparison.svg "
                            "summary.txt\nfinished   a: 2 rows\n"));
  EXPECT_THAT(Print(run + "--in-place"),
              ContainsRegex("\n        1024         21\\.00  "));
  EXPECT_THAT(Read("d/comparison.csv"), HasSubstr("predicted_us,error_pct"));
}

// kLog with `version` in place of the line of NCCL's version.
std::string LogOfVersion(std::string_view version) {
  std::string log(kLog);
  constexpr std::string_view kLine = "NCCL version 2.27.3+cuda12.8";
  return log.replace(log.find(kLine), kLine.size(), version);
}

// nccl-tests prints the number that NCCL makes of its version.
TEST_F(SimaiCollectiveTest, LogsStateTheVersionOfNcclAsANumber) {
  WriteText(folder_.PathOf("a.log"),
            LogOfVersion("# nccl-tests version 2.17.6 nccl-headers=22807 "
                         "nccl-library=22807"));
  const std::string what = "a.log --system dgx-h100 --op all_reduce ";
  EXPECT_THAT(Print("--compare " + what),
              HasSubstr("\n# NCCL       2.28, host launch\n"));
  EXPECT_EQ(Run("--calibrate " + what).exit_code, 0);
  EXPECT_THAT(Print("--compare " + what + "--nccl NCCL_VERSION=2.21"),
              HasSubstr("\n# NCCL       2.21, host launch\n"));
}

TEST_F(SimaiCollectiveTest, AVersionThatIsGivenGoesBeforeThatOfTheLog) {
  WriteText(folder_.PathOf("a.log"), LogOfVersion("# nccl-library=2807"));
  const std::string run = "--compare a.log --system dgx-h100 --op all_reduce";
  ExpectRefused(run,
                "a.log:4:16: NCCL version \"2807\": expected 2.18 to 2.99, or "
                "such a number as 22807; --nccl NCCL_VERSION=2.28 goes before "
                "the log");
  EXPECT_THAT(Print(run + " --nccl NCCL_VERSION=2.28"),
              HasSubstr("\n# NCCL       2.28, host launch\n"));
}

TEST_F(SimaiCollectiveTest, LogsSayWhatTheyRanOn) {
  WriteText(folder_.PathOf("a.log"), kLog);
  ExpectRefused("--compare a.log --system dgx-h100",
                "a.log does not tell the collective: give --op");
  ExpectRefused(
      "--compare a.log --system dgx-h100 --op reduce --servers 2",
      "--servers, --gpus and the like have no effect: a.log lists its "
      "2 ranks");
  std::string one(kLog);
  const size_t second = one.find("#  Rank  1");
  one.erase(second, one.find('\n', second) + 1 - second);
  WriteText(folder_.PathOf("a.log"), one);
  ExpectRefused("--compare a.log --system dgx-h100 --op reduce",
                "a.log:2:4: one rank is listed: expected 2 or more");
}

// The first row was published (github.com/NVIDIA/nccl-tests, issue 309); the
// others are invented.
TEST_F(SimaiCollectiveTest, ComparesWithTablesRowByRow) {
  WriteText(folder_.PathOf("t.csv"),
            "gpu,nodes,gpus_total,nic_gbps,collective,bytes,time_us\n"
            "H100-SXM5-80GB,2,16,8x400 IB,all_reduce,1024,29.75\n"
            "H100-SXM5-80GB,2,16,8x400 IB,all_gather,1024,29.75\n"
            "Abacus,2,16,8x400 IB,all_reduce,1024,29.75\n"
            "H100-SXM5-80GB,2,16,8x400 IB,all_reduce,some,29.75\n");
  const std::string out = Print("--compare-table t.csv --out d");
  EXPECT_THAT(out, StartsWith("4 measured rows, 2 predicted; "));
  EXPECT_THAT(out, HasSubstr("no system has the GPU"));
  const std::string csv = Read("d/comparison.csv");
  EXPECT_EQ(NumLines(csv), 5u);
  EXPECT_THAT(csv, ContainsRegex("all_reduce,1024,29.75,[0-9.]+,[-0-9.]+,"
                                 "[A-Za-z]+,[A-Z0-9a-z]+,ok\n"));
  EXPECT_THAT(Read("d/comparison.svg"), HasSubstr("<svg"));
}

// The times are those that the system predicts with its own constants.
TEST_F(SimaiCollectiveTest, ComparesRowsOfASystemWithItsConstants) {
  std::string system =
      testing::ReadText(testing::SourcePath("inputs/systems/dgx-h100.yaml"));
  const std::string part = "interconnect: nvlink4\n";
  system.insert(system.find(part) + part.size(),
                "interconnect_calibration: {origin: mine, launch_us: 77}\n");
  WriteText(folder_.PathOf("mine.yaml"), system);
  WriteText(folder_.PathOf("t.csv"),
            "gpu,nodes,gpus_total,nic_gbps,collective,bytes,time_us\n"
            "H100-SXM5-80GB,1,8,none,all_reduce,1024,77\n"
            "A100-SXM4-80GB,1,8,none,all_reduce,1024,77\n");
  EXPECT_THAT(Print("--compare-table t.csv --system mine.yaml --out d"),
              StartsWith("2 measured rows, 1 predicted; "));
  const std::string csv = Read("d/comparison.csv");
  EXPECT_THAT(csv, HasSubstr(",77,77,0.00,"));
  EXPECT_THAT(csv, HasSubstr(",not measured on the links of dgx-h100\n"));
  ExpectRefused("--compare-table t.csv --system dgx-b200",
                "t.csv: none of its 2 rows was measured on the links of "
                "dgx-b200");
}

TEST_F(SimaiCollectiveTest, RefusesFilesOfRecords) {
  WriteText(folder_.PathOf("c.yaml"),
            "simai_network: 1\nrecord: {pfc: false}\n");
  ExpectRefused("--system dgx-h100 --fidelity packet --network c.yaml",
                "c.yaml: record.pfc has no effect: simai_collective writes no "
                "such files");
}

TEST_F(SimaiCollectiveTest, RefusesWhatItCannotUse) {
  ExpectRefused("--system dgx-h100 --nccl NCCL_ALGO=Rong",
                "--nccl: unknown NCCL_ALGO \"Rong\"; did you mean \"Ring\"? "
                "(known: Tree, Ring, CollNetDirect, CollNetChain, NVLS, "
                "NVLSTree, PAT)");
  ExpectRefused("--system dgx-h100 --nccl NCCL_ALGO=Ring,NCCL_ALGO=Tree",
                "--nccl: NCCL_ALGO is given twice");
  WriteText(folder_.PathOf("nccl.conf"), "NCCL_ALGO=Ring  # ok\nNCCL_ALGO\n");
  ExpectRefused("--system dgx-h100 --nccl-file nccl.conf",
                "nccl.conf:2:1: \"NCCL_ALGO\": expected KEY=VALUE, such as "
                "NCCL_ALGO=Ring");
  ExpectRefused("--system dgx-h100 --op alltoall --algorithm rung",
                "unknown all-to-all algorithm \"rung\" "
                "(known: direct, pxn, simai_direct)");
  ExpectRefused("--system dgx-h100 --gpus 12",
                "12 GPUs do not divide into servers of 8");
  ExpectRefused("--system dgx-h100 --op reduce --root 8",
                "--root is 8: the group has 8 ranks");
  ExpectRefused("--system dgx-h100 --op alltoall --tuning",
                "--tuning has no effect: NCCL makes alltoall of sends and "
                "receives");
}

TEST_F(SimaiCollectiveTest, PrintsHelpVersionAndSystems) {
  EXPECT_THAT(Print("--help"), StartsWith("usage: simai_collective "));
  EXPECT_EQ(Print("--version"), "simai_collective 0.1.0\n");
  EXPECT_THAT(Print("--list-systems"), HasSubstr("\ndgx-h100 "));
}

}  // namespace
}  // namespace astra
