#include "collectives/measurements/nccl_tests_log.h"

#include "tests/testing/bad_input.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::Optional;

// Figures of github.com/waynehacking8/nccl-collectives-bench,
// results/scaling_attributed/g2_auto.log, shortened: a row in pieces between
// the lines of NCCL, one of which follows its root without a space.
constexpr std::string_view kTwoGpus =
    "# nccl-tests version 2.18.3 nccl-headers=22902 nccl-library=22902\n"
    "# Collective test starting: all_reduce_perf\n"
    "# nThread 1 nGpus 2 minBytes 8589934592 iters: 50 graph: 0 unalign: 0\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid 1343 on 38dcf168f605 device  0 [0000:41:00] "
    "NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid 1343 on 38dcf168f605 device  1 [0000:44:00] "
    "NVIDIA H100 80GB HBM3\n"
    "38dcf168f605:1343:1343 [0] NCCL INFO NCCL version 2.29.2+cuda13.1\n"
    "#       size         count      type   redop    root     time   algbw   "
    "busbw  #wrong     time   algbw   busbw  #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)\n"
    "  8589934592    2147483648     float     sum      -138dcf168f605:1343:1343"
    " [0] NCCL INFO AllReduce: 8589934592 Bytes -> Algo RING proto SIMPLE "
    "channel{Lo..Hi}={0..23}\n"
    "  24730.0  347.35  347.35       038dcf168f605:1343:1343 [0] NCCL INFO "
    "AllReduce: 8589934592 Bytes -> Algo RING proto SIMPLE channel\n"
    "  24747.1  347.11  347.11       0\n"
    "38dcf168f605:1343:1343 [0] NCCL INFO comm 0x1 rank 0 - Destroy COMPLETE\n"
    "# Avg bus bandwidth    : 328.358\n";

TEST(NcclTestsLogTest, ReadsRowsThatNcclBreaksUp) {
  const NcclTestsLog log = ValueOrDie(ParseNcclTestsLog("l", kTwoGpus));
  EXPECT_THAT(log.collective, Optional(CollectiveKind::kAllReduce));
  EXPECT_EQ(log.num_ranks, 2U);
  EXPECT_THAT(log.hosts, ElementsAre("38dcf168f605"));
  EXPECT_THAT(log.gpus, ElementsAre("NVIDIA H100 80GB HBM3"));
  EXPECT_EQ(log.nccl_version, "22902");
  EXPECT_EQ(log.nccl_version_place, "l:1:61");
  EXPECT_FALSE(log.uses_cuda_graph);
  ASSERT_EQ(log.rows.size(), 1U);
  const NcclTestsRow& row = log.rows[0];
  EXPECT_EQ(row.size, Bytes(8'589'934'592));
  EXPECT_EQ(row.count, 2'147'483'648);
  EXPECT_EQ(row.type, "float");
  EXPECT_EQ(row.redop, "sum");
  EXPECT_EQ(row.root, "-1");
  EXPECT_EQ(row.out_of_place.time_us, 24730);
  EXPECT_EQ(row.out_of_place.algbw, 347.35);
  EXPECT_THAT(row.out_of_place.num_wrong, Optional(0.0));
  EXPECT_EQ(row.in_place.time_us, 24747.1);
  EXPECT_EQ(row.in_place.busbw, 347.11);
  EXPECT_THAT(row.algorithm, Optional(NcclAlgorithm::kRing));
  EXPECT_THAT(row.protocol, Optional(NcclProtocol::kSimple));
}

// Rows of every form that nccl-tests has printed, and labels before them.
TEST(NcclTestsLogTest, TheHeaderSaysWhatTheColumnsAre) {
  const auto times = [](std::string_view contents) {
    const NcclTestsRow row =
        ValueOrDie(ParseNcclTestsLog("l", contents)).rows.at(0);
    return fmt::format("{} {} {} {} {}", row.redop, row.root,
                       row.out_of_place.time_us, row.in_place.time_us,
                       row.in_place.num_wrong.value_or(-1));
  };
  EXPECT_EQ(times("8 2 float sum -1 9.32 0.00 0.00 0 0.14 0.06 0.00 0\n"),
            "sum -1 9.32 0.14 0");
  EXPECT_EQ(times("0: # size count type redop root time algbw busbw #wrong "
                  "time algbw busbw #wrong\n"
                  "0: 8 2 float none -1 309.5 27.1 25.4 N/A 306.9 27 25 N/A\n"),
            "none -1 309.5 306.9 -1");
  EXPECT_EQ(
      times("[1,0]<stdout>:# size count type redop time algbw busbw "
            "error time algbw busbw error\n"
            "[1,0]<stdout>: 8 2 float sum 22.5 0 0 4e-07 24.9 0 0 4e-07\n"),
      "sum  22.5 24.9 -1");
  EXPECT_EQ(times("# size count type time algbw busbw error time algbw busbw "
                  "error\n"
                  "32 1 float 35.03 0.00 0.00 N/A 1.2e+06 0.00 0.00 N/A\r\n"),
            "  35.03 1200000 -1");
  EXPECT_EQ(times("# size count type redop root time algbw busbw #wrong "
                  "#bitdiff time algbw busbw #wrong #bitdiff timestamp\n"
                  "8 2 int8 sum -1 1 2 3 0 0 4 5 6 1 0 2025-01-02 10:11:12\n"),
            "sum -1 1 4 1");
}

TEST(NcclTestsLogTest, WhatIsNotOfNcclTestsIsPassedOver) {
  const NcclTestsLog log = ValueOrDie(ParseNcclTestsLog(
      "l",
      "$ mpirun -np 16 /opt/nccl-tests/build/alltoall_perf -b 8\n"
      "Warning: Permanently added '[10.0.0.1]:22' to the list\n"
      "# nThread 1 nGpus 1 minBytes 8 graph: 3\n"
      "#   Rank  0 Pid 1 on a device  0 [0x1b] A100-SXM4-40GB\n"
      "...\n"
      "#   Rank 15 Pid 1 on b device  7 [0xca] A100-SXM4-40GB\n"
      "b:1:1 [0] NCCL INFO 8 Bytes -> Algo 1 proto 0 time 6.2\n"
      "8 2 float none -1 9.32 0.00 0.00 0 0.14 0.06 0.00 N/A\n"
      "16 4 float none -1 1 0.00 0.00 0 2 0.06 0.00 N/A\n"));
  EXPECT_THAT(log.collective, Optional(CollectiveKind::kAllToAll));
  EXPECT_EQ(log.num_ranks, 16U);
  EXPECT_THAT(log.hosts, ElementsAre("a", "b"));
  EXPECT_THAT(log.gpus, ElementsAre("A100-SXM4-40GB"));
  EXPECT_TRUE(log.uses_cuda_graph);
  ASSERT_EQ(log.rows.size(), 2U);
  EXPECT_THAT(log.rows[0].algorithm, Optional(NcclAlgorithm::kRing));
  EXPECT_THAT(log.rows[0].protocol, Optional(NcclProtocol::kLl));
  EXPECT_EQ(log.rows[1].algorithm, std::nullopt);
}

class BadNcclTestsLogTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadNcclTestsLogTest, SaysWhatAndWhere) {
  EXPECT_THAT(ParseNcclTestsLog("l", GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadNcclTestsLogTest,
    ::testing::Values(
        BadInput{"Empty", "",
                 "l:1:1: no row: expected the output of a program of "
                 "nccl-tests, such as all_reduce_perf"},
        BadInput{"NoRow", "# Collective test starting: all_reduce_perf\n",
                 "l:2:1: no row: expected the output of a program of "
                 "nccl-tests, such as all_reduce_perf"},
        BadInput{"CutOff", "  8 2 float sum -1 9.32\n",
                 "l:1:3: 6 values in this row: expected 13"},
        BadInput{"CutOffBeforeAComment", "8 2 float sum -1 9.32\n# Avg\n",
                 "l:1:1: 6 values in this row: expected 13"},
        BadInput{"TooLong", "8 2 float sum -1 9.32 0 0 0 0.14 0.06 0.00 0 77\n",
                 "l:1:46: unexpected \"77\": expected 13 values"},
        BadInput{"NoNumber", "8 2 float sum -1 fast 0 0 0 0.14 0.06 0.00 0\n",
                 "l:1:18: time is \"fast\": expected a number of at least 0"},
        BadInput{"CpuTime", "# size count type cputime algbw busbw\n",
                 "l:1:19: times of the CPU: expected those of the GPUs, "
                 "without -C"},
        BadInput{"HalfAHeader", "# size count type time algbw busbw #wrong\n",
                 "l:1:3: column \"time\" is not there twice, out of place and "
                 "in place"},
        BadInput{"TwoTests",
                 "8 2 float sum -1 9 0 0 0 1 0 0 0\n# nThread 1 nGpus 2\n",
                 "l:2:3: a second test begins here: expected one in each "
                 "log"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace astra
