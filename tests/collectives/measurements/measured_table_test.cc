#include "collectives/measurements/measured_table.h"

#include "tests/testing/bad_input.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::Optional;

constexpr std::string_view kHeader =
    "source_url,gpu,nodes,gpus_total,nic_gbps,nvlink_gen,collective,bytes,"
    "time_us,nccl_version,env,notes\n";

// Source of the figures: github.com/NVIDIA/nccl-tests/issues/309.
TEST(MeasuredTableTest, UnderstandsARow) {
  const std::string text = fmt::format(
      "{}github.com/NVIDIA/nccl-tests/issues/309,H100-SXM5-80GB,2,16,8x400 IB,"
      "\"NVLink4 NVSwitch3 (18 links, 450 GB/s/dir)\",all_reduce,8192,32.12,"
      "2.26.2+cuda12.8,NCCL_P2P_LEVEL=NVL; algo default,\"q=A; VMs, CX7\"\n",
      kHeader);
  const MeasuredTable table = ValueOrDie(ParseMeasuredTable("t", text));
  ASSERT_EQ(table.rows.size(), 1U);
  const MeasuredRow& row = table.rows[0];
  EXPECT_EQ(row.problem, "");
  EXPECT_EQ(row.source, "github.com/NVIDIA/nccl-tests/issues/309");
  EXPECT_EQ(row.gpu, "H100-SXM5-80GB");
  EXPECT_EQ(row.gpu_model, "H100");
  EXPECT_EQ(row.num_nodes, 2U);
  EXPECT_EQ(row.num_gpus, 16U);
  EXPECT_EQ(row.num_gpus_per_node(), 8U);
  EXPECT_EQ(row.nics.transport, "IB");
  EXPECT_THAT(row.nvlink.gb_per_s, Optional(450.0));
  EXPECT_EQ(row.collective, CollectiveKind::kAllReduce);
  EXPECT_EQ(row.size, KiB(8));
  EXPECT_EQ(row.time_us, 32.12);
  EXPECT_THAT(row.nccl_version, Optional(MeasuredVersion{2, 26, 2}));
  EXPECT_EQ(row.environment.settings.size(), 1U);
  EXPECT_THAT(row.grade, Optional('A'));
}

TEST(MeasuredTableTest, AThreadForEachGpuQueues) {
  const auto launch = [](std::string_view env, std::string_view notes) {
    const MeasuredTable table = ValueOrDie(ParseMeasuredTable(
        "t", fmt::format("gpu,nodes,gpus_total,nic_gbps,collective,bytes,"
                         "time_us,env,notes\nA100,1,8,none,all_reduce,8,9,{},"
                         "{}\n",
                         env, notes)));
    const std::optional<Launch> stated = table.rows[0].environment.launch;
    return stated ? std::string(Name(*stated)) : table.rows[0].problem;
  };
  EXPECT_EQ(launch("NCCL", "one process with 8 threads"), "queued");
  EXPECT_EQ(launch("CUDA graph", "one process with 8 threads"), "graph");
  EXPECT_EQ(launch("NCCL", "one process with 8 GPUs"), "");
}

TEST(MeasuredTableTest, KernelsOfInferenceEnginesAreTold) {
  const auto environment = [](std::string_view source, std::string_view env) {
    const MeasuredTable table = ValueOrDie(ParseMeasuredTable(
        "t", fmt::format("gpu,nodes,gpus_total,nic_gbps,collective,bytes,"
                         "time_us,env,source_url\nA100,1,8,none,all_reduce,8,"
                         "9,{},{}\n",
                         env, source)));
    const MeasuredEnvironment& read = table.rows[0].environment;
    return fmt::format("{} {}", read.engine, Name(*read.launch));
  };
  EXPECT_EQ(environment("x/comm/vllm/0.14.0/t.parquet", "vLLM_custom_eager"),
            "vllm@0.14.0 host");
  EXPECT_EQ(environment("x", "SGLang_CustomAllReduce_graph"), "sglang graph");
  EXPECT_EQ(environment("x/comm/sglang/0.5.6/t", "TRTLLM"), "trtllm graph");
}

TEST(MeasuredTableTest, ColumnsComeInAnyOrderAndOthersAreKept) {
  const MeasuredTable table = ValueOrDie(ParseMeasuredTable(
      "t",
      "time_us,bytes,collective,mine,nic_gbps,gpus_total,nodes,gpu\n"
      " 5 ,1e6,all-gather,\"a,\"\"b\",none,4,1,A100\n"));
  EXPECT_THAT(table.columns,
              ElementsAre("time_us", "bytes", "collective", "mine", "nic_gbps",
                          "gpus_total", "nodes", "gpu"));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_THAT(table.rows[0].cells,
              ElementsAre(" 5 ", "1e6", "all-gather", "a,\"b", "none", "4", "1",
                          "A100"));
  EXPECT_EQ(table.rows[0].problem, "");
  EXPECT_EQ(table.rows[0].source, "not stated");
  EXPECT_EQ(table.rows[0].time_us, 5);
  EXPECT_EQ(table.rows[0].size, Bytes(1'000'000));
  EXPECT_EQ(table.rows[0].grade, std::nullopt);
}

// What scripts/profile/profile_collectives.py writes.
TEST(MeasuredTableTest, UnderstandsWhatTheProfilerWrites) {
  const MeasuredTable table = ValueOrDie(ParseMeasuredTable(
      "t",
      "gpu,nodes,gpus_total,nic_gbps,collective,bytes,time_us,algbw_GBps,"
      "busbw_GBps\n"
      "H100-SXM,2,16,not stated,all_to_all,1000000,40.833,24.490,22.959\n"
      "H100-SXM,2,16,8x400 IB,send_recv,1000000,42.222,23.684,23.684\n"));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].problem, "");
  EXPECT_EQ(table.rows[0].collective, CollectiveKind::kAllToAll);
  EXPECT_EQ(table.rows[1].problem, "");
  EXPECT_EQ(table.rows[1].nics.transport, "IB");
}

// The cells of a row from the GPU to the time, and what is wrong with it.
struct ProblemCase {
  std::string cells;
  std::string problem;
};

class MeasuredRowTest : public ::testing::TestWithParam<ProblemCase> {};

TEST_P(MeasuredRowTest, SaysWhyItCannotBeUsed) {
  const MeasuredTable table = ValueOrDie(ParseMeasuredTable(
      "t", fmt::format("gpu,nodes,gpus_total,nic_gbps,collective,bytes,time_us"
                       "\n{}\nA100,1,8,none,reduce,8,5\n",
                       GetParam().cells)));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].problem, GetParam().problem);
  EXPECT_EQ(table.rows[1].problem, "");
}

INSTANTIATE_TEST_SUITE_P(
    All, MeasuredRowTest,
    ::testing::Values(
        ProblemCase{",1,8,none,all_reduce,8,5", "no GPU"},
        ProblemCase{"H100-SXM dry run,1,8,none,all_reduce,8,5",
                    "a time that was guessed in a dry run"},
        ProblemCase{"A100,x,8,none,all_reduce,8,5",
                    "nodes is \"x\": expected a whole number from 1 to "
                    "1048576"},
        ProblemCase{"A100,3,8,none,all_reduce,8,5",
                    "8 GPUs do not divide by 3 nodes"},
        ProblemCase{"A100,1,8,none,foo,8,5",
                    "unknown collective \"foo\" "
                    "(known: all_reduce, all_gather, reduce_scatter, alltoall, "
                    "sendrecv, broadcast, reduce, gather, scatter, dispatch, "
                    "combine)"},
        ProblemCase{"A100,1,8,none,all_reduce,8.5,5",
                    "bytes is \"8.5\": expected a whole number from 1 to "
                    "1125899906842624"},
        ProblemCase{"A100,1,8,none,all_reduce,8,0",
                    "time_us is \"0\": expected a number from 0.001 to "
                    "1000000000000"}));

class BadMeasuredTableTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadMeasuredTableTest, SaysWhatAndWhere) {
  EXPECT_THAT(ParseMeasuredTable("t", GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadMeasuredTableTest,
    ::testing::Values(
        BadInput{"Empty", "",
                 "t:1:1: no line: expected the names of the columns"},
        BadInput{"LacksAColumn",
                 "gpu,nodes,gpus_total,nic_gbps,collective,bytes\n",
                 "t:1:1: no column \"time_us\""},
        BadInput{"Ragged",
                 "gpu,nodes,gpus_total,nic_gbps,collective,bytes,time_us\n"
                 "A100,1,8,none,reduce,8\n",
                 "t:2:22: 6 cells: expected 7, as in the first line"}),
    [](const auto& test) { return test.param.name; });

TEST(MeasuredTableTest, ALogBecomesATable) {
  const NcclTestsLog log = ValueOrDie(ParseNcclTestsLog(
      "l",
      "# Collective test starting: all_reduce_perf\n"
      "# nThread 1 nGpus 1 graph: 1\n"
      "# Rank 0 Group 0 Pid 1 on a device 0 [0x1] NVIDIA H100 80GB HBM3\n"
      "# Rank 1 Group 0 Pid 1 on b device 0 [0x1] NVIDIA H100 80GB HBM3\n"
      "NCCL version 2.27.7+cuda12.9\n"
      "a:1:1 [0] NCCL INFO AllReduce: 8 Bytes -> Algo TREE proto LL ch\n"
      "8 2 float sum -1 9.5 0 0.5 0 10.5 0 0 0\n"));
  const MeasuredTable table = TabulateLog(
      log, {.source = "mine", .nics = "1x400 IB", .in_place = true});
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_THAT(
      table.rows[0].cells,
      ElementsAre("mine", "NVIDIA H100 80GB HBM3", "2", "2", "1x400 IB",
                  "not stated", "all_reduce", "8", "0", "0", "10.5",
                  "2.27.7+cuda12.9", "CUDA graph; NCCL picked Tree LL", ""));
  EXPECT_EQ(table.rows[0].problem, "");
  EXPECT_EQ(table.rows[0].environment.launch, Launch::kGraph);
  EXPECT_THAT(table.rows[0].environment.algorithm,
              Optional(NcclAlgorithm::kTree));
}

TEST(MeasuredTableTest, WhatALogLacksIsAProblemUnlessItIsSet) {
  const NcclTestsLog log = ValueOrDie(
      ParseNcclTestsLog("l", "8 2 float sum -1 9.5 0 0.5 0 10.5 0 0 0\n"));
  EXPECT_EQ(TabulateLog(log, {}).rows.at(0).problem, "no GPU");
  const MeasuredTable table =
      TabulateLog(log, {.collective = CollectiveKind::kAllToAll,
                        .gpu = "B200",
                        .num_nodes = 1,
                        .num_gpus = 8});
  EXPECT_EQ(table.rows.at(0).problem, "");
  EXPECT_EQ(table.rows.at(0).time_us, 9.5);
}

}  // namespace
}  // namespace astra
