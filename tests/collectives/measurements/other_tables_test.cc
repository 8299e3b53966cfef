#include "collectives/measurements/other_tables.h"

#include "collectives/measurements/measured_table.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;
using ::testing::HasSubstr;

// Rows of Vidur's a100_dgx (microsoft/vidur, MIT): 64 KiB, and the last on two
// nodes.
constexpr std::string_view kVidur =
    ",time_stats.all_reduce.min,time_stats.all_reduce.median,rank,num_workers,"
    "size,collective,devices_per_node,max_devices_per_node\n"
    "0,0.007,0.0145,0,8,65536,all_reduce,8,8\n"
    "1,0.007,7.193,0,16,67108864,all_reduce,8,8\n";

TEST(OtherTablesTest, ReadsTablesOfVidur) {
  const MeasuredTable table =
      ValueOrDie(ParseMeasuredTable("network/a100_dgx/all_reduce.csv", kVidur));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].problem, "");
  EXPECT_EQ(table.rows[0].gpu_model, "A100");
  EXPECT_EQ(table.rows[0].collective, CollectiveKind::kAllReduce);
  EXPECT_EQ(table.rows[0].size, KiB(64));
  EXPECT_DOUBLE_EQ(table.rows[0].time_us, 14.5);
  EXPECT_EQ(table.rows[1].num_nodes, 2U);
  EXPECT_EQ(table.rows[1].num_gpus, 16U);
}

TEST(OtherTablesTest, PairsOfGpusAreNamedByTheFolder) {
  const auto joins_pairs = [](std::string_view file) {
    const MeasuredRow row =
        ValueOrDie(ParseMeasuredTable(file, kVidur)).rows[0];
    EXPECT_EQ(row.problem, "");
    return row.nvlink.joins_pairs;
  };
  EXPECT_TRUE(joins_pairs("a100_pairwise_nvlink/all_reduce.csv"));
  EXPECT_FALSE(joins_pairs("a100_dgx/all_reduce.csv"));
}

// Vidur takes the duration of kernels, in which there is no launch.
TEST(OtherTablesTest, RowsOfVidurAreQueued) {
  const MeasuredTable table =
      ValueOrDie(ParseMeasuredTable("network/a100_dgx/all_reduce.csv", kVidur));
  EXPECT_EQ(table.rows.at(0).environment.launch, Launch::kQueued);
}

TEST(OtherTablesTest, TheEstimatorsFolderNamesTheSystem) {
  constexpr std::string_view kText =
      "shape,nodes,GPUsPerNode,dur(us)\n134217728.0,2.0,4.0,110918.6\n";
  const auto system = [&](const std::string& folder) {
    return ValueOrDie(
               ParseMeasuredTable(
                   folder + "NVIDIAA100-SXM4-80GB_allreduce_fp16.csv", kText))
        .rows.at(0)
        .system;
  };
  EXPECT_EQ(system("regressors/Perlmutter/nccl/"), "perlmutter");
  EXPECT_EQ(system("vista/"), "vista");
  EXPECT_EQ(system("regressors/OurCluster/nccl/"), "");
  EXPECT_EQ(system(""), "");
}

// The first row is of estimate-train-time (MIT), Perlmutter.
TEST(OtherTablesTest, ReadsTablesOfTheEstimator) {
  constexpr std::string_view kText =
      "shape,nodes,GPUsPerNode,dur(us)\n134217728.0,2.0,4.0,110918.6\n";
  const auto row = [&](std::string_view file) {
    return ValueOrDie(ParseMeasuredTable(file, kText)).rows.at(0);
  };
  const MeasuredRow reduce =
      row("d/NVIDIAA100-SXM4-80GB_allreduce_large_fp16_2_4.csv");
  EXPECT_EQ(reduce.problem, "");
  EXPECT_EQ(reduce.gpu_model, "A100");
  EXPECT_EQ(reduce.num_nodes, 2U);
  EXPECT_EQ(reduce.num_gpus, 8U);
  EXPECT_EQ(reduce.size, Bytes(2 * 134'217'728));
  EXPECT_DOUBLE_EQ(reduce.time_us, 110918.6);
  // `shape` is the part of one of 8 ranks.
  const MeasuredRow gather = row("NVIDIAGH200120GB_allgather_large_fp16.csv");
  EXPECT_EQ(gather.gpu_model, "GH200");
  EXPECT_EQ(gather.collective, CollectiveKind::kAllGather);
  EXPECT_EQ(gather.size, Bytes(8 * int64_t{2} * 134'217'728));
  EXPECT_EQ(row("NVIDIAA100_p2p_fp32.csv").collective,
            CollectiveKind::kSendRecv);
}

TEST(OtherTablesTest, ThePathMustTellWhatTheTableDoesNot) {
  const auto refuses = [](std::string_view file, std::string_view text) {
    const auto table = ParseMeasuredTable(file, text);
    return std::string(table.status().message());
  };
  EXPECT_THAT(refuses("all_reduce.csv", kVidur),
              HasSubstr("all_reduce.csv: the folder does not tell the GPU"));
  constexpr std::string_view kText = "shape,nodes,GPUsPerNode,dur(us)\n";
  EXPECT_THAT(refuses("A100_reduce_fp16.csv", kText),
              HasSubstr("the name does not tell what was measured"));
  EXPECT_THAT(refuses("A100_allreduce.csv", kText),
              HasSubstr("the name does not tell what was measured"));
  EXPECT_THAT(refuses("A100_p2p_fp16.csv",
                      "shape,nodes,GPUsPerNode,dur(us)\n8,two,1,3\n"),
              HasSubstr("A100_p2p_fp16.csv:2:3: nodes is \"two\""));
  EXPECT_THAT(refuses("a100/all_reduce.csv",
                      ",time_stats.a.median,num_workers,size,collective,"
                      "devices_per_node\n0,1,6,8,a,4\n"),
              HasSubstr("a100/all_reduce.csv:2:5: 6 workers on nodes of 4"));
}

}  // namespace
}  // namespace astra
