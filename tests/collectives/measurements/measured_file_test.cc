#include "collectives/measurements/measured_file.h"

#include "tests/testing/bad_input.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Describe(const MeasuredRow& row) {
  return fmt::format(
      "{} {} {}x{} {} B {} us {}", row.gpu_model, Name(row.collective),
      row.num_nodes, row.num_gpus_per_node(), row.size.count(), row.time_us,
      row.environment.launch ? Name(*row.environment.launch) : "not stated");
}

std::string FirstOf(std::string_view file, std::string_view contents) {
  const MeasuredFile measured = ValueOrDie(ParseMeasuredFile(file, contents));
  EXPECT_THAT(measured.calls, IsEmpty());
  return Describe(measured.rows.at(0));
}

constexpr std::string_view kLog =
    "# Collective test starting: all_gather_perf\n"
    "# nThread 1 nGpus 2 minBytes 8 graph: 1\n"
    "#  Rank  0 Group  0 Pid 7 on a device  0 [0x1b] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid 7 on a device  1 [0x1b] NVIDIA H100 80GB HBM3\n"
    "8192 2048 float none -1 24.5 0 0 0 23.5 0 0 0\n";

TEST(MeasuredFileTest, EveryFormatIsRecognized) {
  EXPECT_EQ(FirstOf("t.csv",
                    "gpu,nodes,gpus_total,nic_gbps,collective,bytes,time_us\n"
                    "A100-SXM4-80GB,2,16,8x200 IB,all_reduce,1024,31.5\n"),
            "A100 all-reduce 2x8 1024 B 31.5 us not stated");
  EXPECT_EQ(FirstOf("a100_dgx/all_reduce.csv",
                    "time_stats.all_reduce.median,num_workers,devices_per_node,"
                    "size,collective\n0.05,8,4,2048,all_reduce\n"),
            "A100 all-reduce 2x4 2048 B 50 us queued");
  EXPECT_EQ(FirstOf("NVIDIAA100-SXM4-80GB_allgather_fp16_2_4.csv",
                    "shape,nodes,GPUsPerNode,dur(us)\n1024,2.0,4.0,70\n"),
            "A100 all-gather 2x4 16384 B 70 us not stated");
  EXPECT_EQ(FirstOf("all_gather.log", kLog),
            "H100 all-gather 1x2 8192 B 24.5 us graph");
}

TEST(MeasuredFileTest, RecordsOfTheInspectorNameTheirCalls) {
  const MeasuredFile measured = ValueOrDie(ParseMeasuredFile(
      "i.log",
      R"({"header":{"id":"0x1","rank":1,"n_ranks":8,"nnodes":2},"coll_perf":)"
      R"({"coll":"AllGather","coll_sn":7,"coll_msg_size_bytes":1024,)"
      R"("coll_exec_time_us":40,"coll_timing_source":"kernel_gpu"}})"));
  ASSERT_EQ(measured.rows.size(), 1U);
  EXPECT_EQ(Describe(measured.rows[0]), " all-gather 2x4 8192 B 40 us queued");
  EXPECT_THAT(measured.calls, ElementsAre("0x1 all-gather 7"));
}

class BadMeasuredFileTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadMeasuredFileTest, SaysWhatAndWhere) {
  EXPECT_THAT(ParseMeasuredFile("f", GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

constexpr std::string_view kNoFormat =
    "f: expected measured times: a table (CSV) with the columns bytes and "
    "time_us, a log of nccl-tests, or JSON lines of NCCL's inspector";
constexpr std::string_view kNoRanks =
    "f: the log does not tell the ranks, their hosts and GPUs: expected lines "
    "such as \"#  Rank  0 Group  0 Pid 7 on node1 device  0 [0x1b] NVIDIA H100 "
    "80GB HBM3\"";

INSTANTIATE_TEST_SUITE_P(
    All, BadMeasuredFileTest,
    ::testing::Values(
        BadInput{"Empty", "", std::string(kNoFormat)},
        BadInput{"OtherText", "a,b\n1,2\n", std::string(kNoFormat)},
        BadInput{"HalfATable", "gpu,bytes,time_us\nH100,8,9\n",
                 "f:1:1: no column \"nodes\""},
        BadInput{"LogWithoutRows", "# Collective test starting: reduce_perf\n",
                 "f:2:1: no row: expected the output of a program of "
                 "nccl-tests, such as all_reduce_perf"},
        BadInput{"LogWithoutCollective",
                 "8 2 float sum -1 9.5 0 0.5 0 10.5 0 0 0\n",
                 "f: the log does not tell the collective: expected a line "
                 "such as \"# Collective test starting: all_reduce_perf\""},
        BadInput{"LogWithoutRanks",
                 "# Collective test starting: all_reduce_perf\n"
                 "8 2 float sum -1 9.5 0 0.5 0 10.5 0 0 0\n",
                 std::string(kNoRanks)},
        BadInput{"LogOfTwoGpus",
                 testing::WithLine(kLog, 4,
                                   "#  Rank  1 Group  0 Pid 7 on a device  1 "
                                   "[0x1b] NVIDIA A100-SXM4-80GB"),
                 "f: ranks on H100 and on A100: expected one model of GPU"},
        BadInput{
            "InspectorLog", " {\"header\": 1}\n",
            "f:1:1: unexpected \" {\\\"header\\\": 1}\": expected a record "
            "of NCCL's inspector, as one JSON object on a line"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace astra
