#include "collectives/measurements/measured_times.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A table with the columns that are required, and env and notes.
NamedFile Table(std::string name, std::string_view rows) {
  return {std::move(name),
          fmt::format("gpu,nodes,gpus_total,nic_gbps,collective,bytes,time_us,"
                      "env,notes\n{}",
                      rows)};
}

// A record of the inspector: an all-gather on 2 servers of 4 GPUs.
std::string Record(int rank, int serial, int time_us) {
  return fmt::format(
      R"({{"header":{{"id":"0x1","rank":{},"n_ranks":8,"nnodes":2}},)"
      R"("coll_perf":{{"coll":"AllGather","coll_sn":{},)"
      R"("coll_msg_size_bytes":1024,"coll_exec_time_us":{},)"
      R"("coll_timing_source":"kernel_gpu"}}}})"
      "\n",
      rank, serial, time_us);
}

MeasuredTimes TimesOf(const std::vector<NamedFile>& files,
                      const MeasuredFilter& filter = {}) {
  return ValueOrDie(MeasuredTimes::Parse(files, filter));
}

std::string Describe(const MeasuredTimes& times) {
  std::string text;
  for (const auto& [group, curve] : times.curves()) {
    text += fmt::format("{} {}x{} of {}:", Name(group.kind), group.num_servers,
                        group.gpus_per_server, curve.source);
    for (size_t i = 0; i < curve.sizes.size(); ++i) {
      text += fmt::format(" {}={}", curve.sizes[i].count(), curve.times_us[i]);
    }
    text += "\n";
  }
  return text;
}

TEST(MeasuredTimesTest, RowsMakeACurveForEachCollectiveAndGroup) {
  const MeasuredTimes times =
      TimesOf({Table("a",
                     "H100,2,16,8x400 IB,all_gather,2048,50,,\n"
                     "H100,1,8,none,all_reduce,4096,12,,\n"
                     "H100,1,8,none,all_reduce,1024,10,,\n"
                     "H100,2,8,8x400 IB,all_reduce,1024,30,,\n")});
  EXPECT_EQ(Describe(times),
            "all-reduce 1x8 of a: 1024=10 4096=12\n"
            "all-reduce 2x4 of a: 1024=30\n"
            "all-gather 2x8 of a: 2048=50\n");
  EXPECT_THAT(times.notes(), IsEmpty());
  ASSERT_NE(FindCurve(times.curves(), {CollectiveKind::kAllReduce, 2, 4}),
            nullptr);
  EXPECT_THAT(
      FindCurve(times.curves(), {CollectiveKind::kAllReduce, 2, 4})->times_us,
      ElementsAre(30));
  EXPECT_EQ(FindCurve(times.curves(), {CollectiveKind::kAllReduce, 4, 2}),
            nullptr);
  EXPECT_EQ(FindCurve(times.curves(), {CollectiveKind::kBroadcast, 1, 8}),
            nullptr);
}

// Of 9, 10, 40 the median is 10; of 9, 10, 12, 40 it is the lower of 10 and 12.
TEST(MeasuredTimesTest, TheMedianOfRepetitionsCounts) {
  const NamedFile three = Table("a",
                                "H100,1,8,none,all_reduce,1024,40,,\n"
                                "H100,1,8,none,all_reduce,1024,9,,\n"
                                "H100,1,8,none,all_reduce,1024,10,,\n");
  EXPECT_EQ(Describe(TimesOf({three})), "all-reduce 1x8 of a: 1024=10\n");
  const NamedFile fourth = Table("b",
                                 "H100,1,8,none,all_reduce,1024,12,,\n"
                                 "H100,1,8,none,all_reduce,2048,13,,\n");
  EXPECT_EQ(Describe(TimesOf({three, fourth})),
            "all-reduce 1x8 of a, b: 1024=10 2048=13\n");
}

TEST(MeasuredTimesTest, WhatIsLeftOutIsCountedWithItsReason) {
  const MeasuredTimes times = TimesOf(
      {Table("a",
             "H100-SXM5-80GB,1,8,none,all_reduce,1024,10,queued,q=A\n"
             "H100,1,8,none,all_reduce,1024,11,queued,q=X\n"
             "A100,1,8,none,all_reduce,1024,12,queued,\n"
             "A100,1,8,none,all_reduce,2048,13,queued,\n"
             "H100,1,8,none,all_reduce,1024,14,,\n"
             "H100,1,8,none,all_reduce,1024,15,CUDA graph,\n"
             "H100,3,8,none,all_reduce,1024,16,queued,\n"
             "H100,1,8,none,all_reduce,1024,17,vLLM_custom_eager,\n"
             "H100,1,8,none,all_reduce,1024,18,queued; symmetric,\n"
             "H100,1,8,none,all_reduce,1024,19,queued NCCL_ALGO=Tree,\n")},
      {.gpu = "NVIDIA H100 80GB HBM3", .launch = Launch::kQueued});
  EXPECT_EQ(Describe(times), "all-reduce 1x8 of a: 1024=10\n");
  EXPECT_THAT(
      times.notes(),
      ElementsAre(
          "a: 9 of 10 rows are left out: measured on A100, not on H100 (2); "
          "graded X, not to be scored (1); measured with launch host, not "
          "queued (1); measured with launch graph, not queued (1); 8 GPUs do "
          "not divide by 3 nodes (1); it timed the kernel of an inference "
          "engine (1); other reasons (2)"));
}

TEST(MeasuredTimesTest, BuffersAndChoicesMustBeThoseAsked) {
  const NamedFile table =
      Table("a",
            "H100,1,8,none,all_reduce,1024,10,symmetric registration,\n"
            "H100,1,8,none,all_reduce,1024,11,,\n"
            "H100,1,8,none,all_reduce,1024,12,NVLS,\n"
            "H100,1,8,none,all_reduce,1024,13,NCCL_PROTO=LL,\n");
  const MeasuredTimes plain = TimesOf({table});
  EXPECT_EQ(Describe(plain), "all-reduce 1x8 of a: 1024=11\n");
  EXPECT_THAT(plain.notes(),
              ElementsAre("a: 3 of 4 rows are left out: NCCL was told the "
                          "algorithm or the protocol (2); buffers are in "
                          "symmetric memory (1)"));
  EXPECT_EQ(Describe(TimesOf({table}, {.symmetric = true})),
            "all-reduce 1x8 of a: 1024=10\n");
}

// Calls 1 and 2 take 40 and 50 us on the rank that comes last, so that the
// lower one is the median of the two.
TEST(MeasuredTimesTest, RanksOfOneCallCountOnceWithTheShortestTime) {
  const MeasuredTimes times =
      TimesOf({{"r0", Record(0, 1, 90) + Record(0, 2, 50)},
               {"r1", Record(1, 1, 40) + Record(1, 2, 95)}},
              {.gpu = "H100", .launch = Launch::kQueued});
  EXPECT_EQ(Describe(times), "all-gather 2x4 of r0, r1: 8192=40\n");
  EXPECT_THAT(times.notes(),
              ElementsAre("r0: the GPU is not stated, and is taken for H100",
                          "r1: the GPU is not stated, and is taken for H100"));
}

TEST(MeasuredTimesTest, ANoteTellsWhichRowsACurveJoins) {
  const MeasuredTimes times =
      TimesOf({Table("a",
                     "H100,2,16,8x400 IB,all_reduce,1024,10,,\n"
                     "H100,2,16,4x200 IB,all_reduce,1024,11,queued,\n"
                     "H100,1,8,8x400 IB,all_reduce,1024,12,,\n"
                     "H100,1,8,none,all_reduce,1024,13,NCCL_MIN_CTAS=24,\n")});
  EXPECT_THAT(
      times.notes(),
      ElementsAre("measured times of all-reduce on 1 x 8 GPUs join rows with "
                  "different settings of NCCL",
                  "measured times of all-reduce on 2 x 8 GPUs join rows over "
                  "different NICs",
                  "measured times of all-reduce on 2 x 8 GPUs join rows with "
                  "different launches"));
}

TEST(MeasuredTimesTest, RefusesWhatItCannotUse) {
  const auto error = [](const std::vector<NamedFile>& files,
                        const MeasuredFilter& filter) {
    const absl::StatusOr<MeasuredTimes> times =
        MeasuredTimes::Parse(files, filter);
    EXPECT_EQ(times.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(times.status().message());
  };
  const NamedFile table = Table("a",
                                "A100,1,8,none,all_reduce,1024,10,,\n"
                                "A100,1,8,none,all_reduce,2048,11,,\n");
  EXPECT_EQ(error({}, {}), "no file of measured times is given");
  EXPECT_EQ(error({table, table}, {}), "a: given twice as measured times");
  EXPECT_EQ(error({Table("e", "")}, {}), "e: no row");
  EXPECT_EQ(error({table}, {.gpu = "H100"}),
            "a: none of its 2 rows can be used: measured on A100, not on H100 "
            "(2)");
  EXPECT_EQ(
      error({table, Table("b", "H100,1,8,none,all_reduce,1024,10,,\n")}, {}),
      "b: all-reduce on 1 x 8 GPUs was measured on A100 and on H100: say which "
      "GPU is meant");
  EXPECT_EQ(error({{"c", "gpu,bytes\n"}}, {}), "c:1:1: no column \"nodes\"");
}

TEST(MeasuredTimesTest, ReadsFiles) {
  const std::string path = ::testing::TempDir() + "/measured_times_test.csv";
  ASSERT_TRUE(
      WriteFile(path,
                Table("", "H100,1,8,none,all_reduce,1024,10,,\n").contents)
          .ok());
  const MeasuredTimes times =
      ValueOrDie(MeasuredTimes::Read({path}, {.launch = Launch::kHost}));
  EXPECT_EQ(Describe(times),
            fmt::format("all-reduce 1x8 of {}: 1024=10\n", path));
  EXPECT_THAT(MeasuredTimes::Read({path + ".none"}, {}),
              StatusIs(absl::StatusCode::kNotFound,
                       ::testing::HasSubstr(path + ".none: ")));
}

}  // namespace
}  // namespace astra
